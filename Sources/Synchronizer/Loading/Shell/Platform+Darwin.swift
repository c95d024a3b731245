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

    extension URLRequest {
        /// The same request, which fails in Low Data Mode.
        var avoidingConstrainedNetworks: URLRequest? {
            var request = self
            request.allowsConstrainedNetworkAccess = false
            return request
        }
    }

    extension SynchronizerError {
        /// Whether the network is constrained, and the request must not use such a one.
        var isDueToConstrainedNetwork: Bool {
            (underlyingError as? URLError)?.networkUnavailableReason == .constrained
        }
    }

    extension DispatchQoS {
        /// The quality of service of parses, whose results are waited for. The thread that draws is above it, as
        /// `.userInteractive`.
        static let parsing = DispatchQoS.userInitiated
    }
#endif
