import Foundation

/// Why TLS failed. An error of a session has it in its `userInfo`, under `TLSFailure.userInfoKey`, because `URLError` has fewer
/// codes than there are reasons.
///
/// | failure | code |
/// | --- | --- |
/// | `expired` | `serverCertificateHasBadDate` |
/// | `notYetValid` | `serverCertificateNotYetValid` |
/// | `unknownAuthority` | `serverCertificateHasUnknownRoot` |
/// | `selfSigned`, `wrongHost`, `untrusted` | `serverCertificateUntrusted`, as on Apple's systems |
/// | `handshake`, `pinnedKey` | `secureConnectionFailed` |
/// | `clientCertificateRequired` | `clientCertificateRequired` |
/// | `clientCertificateRejected`, `clientCertificateUnusable` | `clientCertificateRejected` |
/// | `authoritiesUnusable` | `secureConnectionFailed` |
public enum TLSFailure: String, Sendable, Hashable, CaseIterable {
    /// The certificate of the server, or of an authority above it, has expired.
    case expired
    /// The certificate of the server, or of an authority above it, is not valid yet.
    case notYetValid
    /// The certificate is for other hosts.
    case wrongHost
    /// The chain ends with an authority that is not trusted, or is incomplete.
    case unknownAuthority
    /// The server signed its certificate itself.
    case selfSigned
    /// The certificate is revoked, or unfit for another reason.
    case untrusted
    /// The server's key is not among the pinned ones.
    case pinnedKey
    /// No common version or cipher, or no TLS at all.
    case handshake
    /// The server insists on a certificate of the client, and there is none.
    case clientCertificateRequired
    /// The server does not accept the client's certificate.
    case clientCertificateRejected
    /// The client's certificate, its key or its password are not what they should be.
    case clientCertificateUnusable
    /// `TLSOptions.additionalAuthorities` holds no certificate.
    case authoritiesUnusable

    /// Where an error's `userInfo` has the `rawValue` of its failure.
    public static let userInfoKey = "CurlSessionTLSFailure"

    var code: URLError.Code {
        switch self {
        case .expired: .serverCertificateHasBadDate
        case .notYetValid: .serverCertificateNotYetValid
        case .unknownAuthority: .serverCertificateHasUnknownRoot
        case .selfSigned, .wrongHost, .untrusted: .serverCertificateUntrusted
        case .handshake, .pinnedKey, .authoritiesUnusable: .secureConnectionFailed
        case .clientCertificateRequired: .clientCertificateRequired
        case .clientCertificateRejected, .clientCertificateUnusable: .clientCertificateRejected
        }
    }
}
