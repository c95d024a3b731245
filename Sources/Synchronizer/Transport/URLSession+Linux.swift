#if canImport(FoundationNetworking)
    import Foundation

    extension URLSession {
        /// The session of a transport.
        static func forTransfers(
            _ configuration: URLSessionConfiguration, delegate: TransferRouter, queue: OperationQueue,
            tls: TLSConfiguration
        ) -> URLSession {
            URLSession(configuration: configuration, delegate: delegate, delegateQueue: queue)
        }
    }

    extension NetworkTrace {
        /// What the session tells of a task that has ended.
        init?(of task: URLSessionTask) { nil }
    }
#endif
