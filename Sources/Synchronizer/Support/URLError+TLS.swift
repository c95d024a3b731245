import Foundation

extension URLError.Code {
    /// The failures of TLS: the server could not be authenticated, or did not accept the client's certificate. A load that fails
    /// with one is never retried, and never answered with a stale response.
    package static let tlsFailures: Set<URLError.Code> = [
        .secureConnectionFailed,  // the handshake; also a certificate for another host, or a key that is not pinned
        .serverCertificateHasBadDate,  // expired
        .serverCertificateNotYetValid,
        .serverCertificateUntrusted,  // self-signed, revoked, or otherwise not accepted
        .serverCertificateHasUnknownRoot,  // an authority that is not trusted
        .clientCertificateRejected,
        .clientCertificateRequired,
        .appTransportSecurityRequiresSecureConnection,  // http where https is required, as after a redirect
    ]
}
