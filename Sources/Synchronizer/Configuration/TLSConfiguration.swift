import Foundation

/// Which servers the client trusts over TLS, and the client's own certificate: ``Synchronizer/Configuration/tls``.
///
/// A connection that does not meet all requirements fails with a specific `URLError`. Such a load is never retried, and never
/// answered with a stale response.
public struct TLSConfiguration: Sendable, Hashable {
    /// Certificates of authorities to trust besides the system's: any number, as PEM in one string.
    public var additionalAuthorities: String?

    /// Whether to trust the system's authorities.
    public var trustsSystemAuthorities = true

    /// The certificate for servers that request one from the client.
    public var clientCertificate: ClientCertificate?

    /// Pinned public keys by host name in lower case, such as `example.com`. A connection to such a host is accepted only if the
    /// server's certificate is trusted and its key is one of them. Subdomains of a host are not pinned with it; an empty set
    /// accepts no key. A key is the base64 of the SHA-256 of its `SubjectPublicKeyInfo` in DER, as in `pin-sha256` (RFC 7469) and
    /// in curl's `--pinnedpubkey`:
    ///
    ///     openssl x509 -in server.pem -pubkey -noout | openssl pkey -pubin -outform der |
    ///         openssl dgst -sha256 -binary | base64
    public var pinnedPublicKeys: [String: Set<String>] = [:]

    /// The lowest accepted version of TLS.
    public var minimumVersion: Version = .tls12

    /// A version of TLS.
    public enum Version: Sendable, Hashable {
        /// RFC 5246.
        case tls12
        /// RFC 8446.
        case tls13
    }

    /// A certificate with its private key, as PKCS #12, which all platforms support.
    public struct ClientCertificate: Sendable, Hashable {
        /// The contents of a `.p12` or `.pfx` file.
        public var data: Data
        /// The password of the file.
        public var password: String

        /// Creates a certificate from PKCS #12.
        public init(pkcs12 data: Data, password: String) {
            self.data = data
            self.password = password
        }
    }

    /// The system's authorities, no client certificate, no pinned keys, TLS 1.2.
    public init() {}
}
