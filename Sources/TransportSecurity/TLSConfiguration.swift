import Foundation

/// Which servers a session trusts over TLS, and the certificate that it presents itself.
///
/// A connection that does not satisfy all of this fails with a `URLError` whose ``Foundation/URLError/tlsFailure`` says which
/// check failed. `Synchronizer` never retries such a load, and never answers it with a stale response.
public struct TLSConfiguration: Sendable, Hashable {
    /// Certificates of authorities to trust in addition to the system's: PEM, any number of them in one string.
    public var additionalAuthorities: String?

    /// Whether the system's authorities are trusted.
    public var trustsSystemAuthorities = true

    /// The certificate that the client presents to servers that ask for one.
    public var clientCertificate: ClientCertificate?

    /// Public keys by host name, such as `example.com`. A connection to such a host is accepted only if the key of the server's
    /// certificate is one of them, and the certificate is also trusted. The case of the name and a dot at its end do not
    /// matter. A name with letters beyond ASCII has to be in ASCII, as `xn--…`. The keys of a host do not apply to its
    /// subdomains. An empty set accepts no key. A key is the base64 of the SHA-256 of its `SubjectPublicKeyInfo` in DER, as in
    /// `pin-sha256` (RFC 7469) and in curl's `--pinnedpubkey`:
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

    /// A certificate with its private key.
    public struct ClientCertificate: Sendable, Hashable {
        package enum Content: Sendable, Hashable {
            case pkcs12(Data, password: String)
            case pem(certificate: Data, privateKey: Data, password: String?)
        }

        package let content: Content

        /// Creates a certificate from a PKCS #12 file. Before macOS 15, the Mac imports the certificate and its key into the
        /// user's default keychain when a server first asks for them.
        /// - Parameters:
        ///   - data: The contents of a `.p12` or `.pfx` file.
        ///   - password: The password that it is encrypted with.
        public init(pkcs12 data: Data, password: String) {
            content = .pkcs12(data, password: password)
        }
    }

    /// Creates a configuration with the system's authorities, no client certificate, no pinned keys, and TLS 1.2 or later.
    public init() {}

    /// The pinned keys by `canonical` host name. The keys of different spellings of a host are merged.
    package var pinsByHost: [String: Set<String>] {
        Dictionary(pinnedPublicKeys.map { (Self.canonical($0), $1) }, uniquingKeysWith: { $0.union($1) })
    }

    /// A host name in small letters, without the dot that may end it.
    package static func canonical(_ host: String) -> String {
        (host.hasSuffix(".") ? String(host.dropLast()) : host).lowercased()
    }
}
