#if !canImport(Darwin)
    import Foundation

    /// On Linux libcurl verifies servers by itself, before any challenge.
    struct ServerTrust: Sendable {
        enum Decision: Sendable {
            case byDefault
            case use(URLCredential)
            case refuse(TLSFailure)
        }

        init(_ tls: TLSConfiguration) {}

        static func isConcerned(with challenge: URLAuthenticationChallenge) -> Bool { false }

        func decide(_ challenge: URLAuthenticationChallenge, _ decided: @escaping @Sendable (Decision) -> Void) {
            decided(.byDefault)
        }
    }
#endif
