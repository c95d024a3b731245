import Foundation

/// Which servers a session trusts over TLS, and as whom it presents itself.
///
/// A connection that does not satisfy all of this fails with a `URLError`; `TLSFailure` says which check failed.
public struct TLSOptions: Sendable, Hashable {
    /// Certificates of authorities to trust: PEM, any number of them in one string.
    public var additionalAuthorities: String?

    /// Whether the system's authorities are trusted, too.
    public var trustsSystemAuthorities = true

    /// What the session shows to servers that ask for a certificate.
    public var clientCertificate: ClientCertificate?

    /// Public keys by host name. A connection to such a host is accepted only if the key of the server's certificate is one of
    /// them, and the certificate is trusted besides. A key is the base64 of the SHA-256 of its `SubjectPublicKeyInfo` in
    /// DER, as in `pin-sha256` (RFC 7469). Names below a host are not pinned with it. An empty set accepts no key.
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

    /// A certificate with its private key.
    public enum ClientCertificate: Sendable, Hashable {
        /// The contents of a `.p12` or `.pfx` file, and what it is encrypted with.
        case pkcs12(Data, password: String)
        /// A certificate, which others may follow that lead to its authority, and its private key; both in PEM.
        case pem(certificate: Data, privateKey: Data, password: String? = nil)
    }

    /// The system's authorities, no client certificate, no pinned keys, TLS 1.2.
    public init() {}
}
