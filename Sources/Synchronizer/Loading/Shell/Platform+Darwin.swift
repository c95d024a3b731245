#if canImport(Darwin)
    import Foundation

    /// The networks that a request may use. Requests that may use different networks are not coalesced.
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
        var avoidingConstrainedNetworks: URLRequest {
            var request = self
            request.allowsConstrainedNetworkAccess = false
            return request
        }
    }

    extension SynchronizerError {
        /// Whether the load failed because the network is constrained, and its request must not use constrained networks.
        var isDueToConstrainedNetwork: Bool {
            (underlyingError as? URLError)?.networkUnavailableReason == .constrained
        }
    }

    extension DispatchQoS {
        /// The quality of service of parses. Callers wait for their results. The thread that draws has a higher one,
        /// `.userInteractive`.
        static let parsing = DispatchQoS.userInitiated
    }
#endif
