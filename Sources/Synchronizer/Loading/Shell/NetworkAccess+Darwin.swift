#if !canImport(FoundationNetworking)
    import Foundation

    /// The networks that a request may use: loads that may use others do not share a transfer.
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
#endif
