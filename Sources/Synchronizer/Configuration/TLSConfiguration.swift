import Foundation

/// Which servers are trusted over TLS, and as whom the client presents itself: ``Synchronizer/Configuration/tls``.
///
/// A connection that does not satisfy all of this fails with a `URLError`
/// of its own; such a load is never retried, and never answered with a stale response.
public struct TLSConfiguration: Sendable, Hashable {
    /// Certificates of authorities that are trusted besides the system's: PEM, any number of them in one string.
    public var additionalAuthorities: String?

    /// Whether the system's authorities are trusted.
    public var trustsSystemAuthorities = true

    /// What the client shows to servers that ask for a certificate.
    public var clientCertificate: ClientCertificate?

    /// Public keys by host name, in lower case, such as `example.com`. A connection to such a host is accepted only if the
    /// key of the server's certificate is one of them, and the certificate is trusted besides. Names below a host are not
    /// pinned with it; an empty set accepts no key. A key is the base64 of the
    /// SHA-256 of its `SubjectPublicKeyInfo` in DER, as in `pin-sha256` (RFC 7469) and in curl's `--pinnedpubkey`:
    ///
    ///     openssl x509 -in server.pem -pubkey -noout | openssl pkey -pubin -outform der |
    ///         openssl dgst -sha256 -binary | base64
    public var pinnedPublicKeys: [String: Set<String>] = [:]

    /// The lowest version of TLS that is accepted.
    public var minimumVersion: Version = .tls12

    /// A version of TLS.
    public enum Version: Sendable, Hashable {
        /// RFC 5246.
        case tls12
        /// RFC 8446.
        case tls13
    }

    /// A certificate with its private key, as PKCS #12, which both platforms read.
    public struct ClientCertificate: Sendable, Hashable {
        /// The contents of a `.p12` or `.pfx` file.
        public var data: Data
        /// What it is encrypted with.
        public var password: String

        /// A certificate out of PKCS #12.
        public init(pkcs12 data: Data, password: String) {
            self.data = data
            self.password = password
        }
    }

    /// The system's authorities, no client certificate, no pinned keys, TLS 1.2.
    public init() {}
}
