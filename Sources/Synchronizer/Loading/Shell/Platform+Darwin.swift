#if canImport(Darwin)
    import Foundation

    /// The networks that a request may use: requests with different ones are not coalesced.
    struct NetworkAccess: Hashable, Sendable {
        private let cellular: Bool
        private let expensive: Bool
        private let constrained: Bool

        init(of request: URLRequest) {
            cellular = request.allowsCellularAccess
            expensive = request.allowsExpensiveNetworkAccess
            constrained = request.allowsConstrainedNetworkAccess
        }
    }

    extension DispatchQoS {
        /// The quality of service of parses, whose results are waited for. The thread that draws is above it, as
        /// `.userInteractive`.
        static let parsing = DispatchQoS.userInitiated
    }
#endif
