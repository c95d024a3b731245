import Foundation

/// The TLS check that a connection failed: ``Foundation/URLError/tlsFailure``.
///
/// `URLError` has fewer codes than there are checks, so the error also has the failure in its `userInfo`.
///
/// | failure | code |
/// | --- | --- |
/// | `expired` | `serverCertificateHasBadDate` |
/// | `notYetValid` | `serverCertificateNotYetValid` |
/// | `unknownAuthority` | `serverCertificateHasUnknownRoot` |
/// | `wrongHost`, `selfSigned`, `untrusted` | `serverCertificateUntrusted`, as on Apple's systems |
/// | `handshake`, `pinnedKey`, `authoritiesUnusable` | `secureConnectionFailed` |
/// | `clientCertificateRequired` | `clientCertificateRequired` |
/// | `clientCertificateRejected`, `clientCertificateUnusable` | `clientCertificateRejected` |
public enum TLSFailure: String, Sendable, Hashable, CaseIterable {
    /// The certificate of the server, or of an authority above it, has expired.
    case expired
    /// The certificate of the server, or of an authority above it, is not valid yet.
    case notYetValid
    /// The certificate is for other hosts.
    case wrongHost
    /// The chain ends with an authority that is not trusted, or is incomplete.
    case unknownAuthority
    /// The certificate of the server is self-signed.
    case selfSigned
    /// The certificate is revoked, or unfit for another reason.
    case untrusted
    /// The server's key is not among the pinned ones.
    case pinnedKey
    /// The handshake failed: client and server have no common version or cipher, the server does not speak TLS, or one of them
    /// broke off, for example because it could not decrypt a record.
    case handshake
    /// The server requires a client certificate, and there is none.
    case clientCertificateRequired
    /// The server does not accept the client's certificate.
    case clientCertificateRejected
    /// The client's certificate, its key or its password cannot be used.
    case clientCertificateUnusable
    /// `TLSConfiguration.additionalAuthorities` holds no certificate.
    case authoritiesUnusable

    /// The key in an error's `userInfo` for the `rawValue` of its failure.
    public static let userInfoKey = "TLSFailure"

    /// The code of the failure's error.
    package var code: URLError.Code {
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

    /// The failure as an error.
    package var error: URLError { URLError(code, userInfo: [Self.userInfoKey: rawValue]) }
}

extension URLError {
    /// The TLS check that failed; nil for other errors, and for errors of Apple's `URLSession` whose code does not tell.
    public var tlsFailure: TLSFailure? {
        if let name = userInfo[TLSFailure.userInfoKey] as? String { return TLSFailure(rawValue: name) }
        switch code {
        case .serverCertificateHasBadDate: return .expired
        case .serverCertificateNotYetValid: return .notYetValid
        case .serverCertificateHasUnknownRoot: return .unknownAuthority
        case .clientCertificateRequired: return .clientCertificateRequired
        default: return nil
        }
    }
}
