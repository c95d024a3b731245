import Foundation
import Synchronizer

extension URLError.Code {
    /// The codes of `TLSFailure`, and the one for http where https is required, as after a redirect. A load that fails with
    /// one is never retried and never answered with a stale response.
    package static let tlsFailures =
        Set(TLSFailure.allCases.map(\.code)).union([.appTransportSecurityRequiresSecureConnection])
}
