#if canImport(Darwin)
    import Foundation

    extension URLSession {
        /// The session of a transport.
        static func forTransfers(
            _ configuration: URLSessionConfiguration, delegate: TransferRouter, queue: OperationQueue,
            tls: TLSConfiguration
        ) -> URLSession {
            let own = configuration.copy() as? URLSessionConfiguration ?? configuration
            let minimum: tls_protocol_version_t = tls.minimumVersion == .tls13 ? .TLSv13 : .TLSv12
            if own.tlsMinimumSupportedProtocolVersion.rawValue < minimum.rawValue {
                own.tlsMinimumSupportedProtocolVersion = minimum
            }
            return URLSession(configuration: own, delegate: delegate, delegateQueue: queue)
        }

        /// The languages from which a session makes an `Accept-Language` for a request without one. The user may change them at any
        /// time.
        package static let languages: @Sendable () -> [String] = { Locale.preferredLanguages }
    }

    extension URLSessionTask {
        /// Pauses the body of a response, or continues it.
        func setPaused(_ isPaused: Bool) {
            if isPaused { suspend() } else { resume() }
        }
    }

    /// The base class of a session's delegate. It forwards the other events of `URLSession` that a subclass of
    /// ``SessionDelegate`` may implement.
    class PolicyHolder: NSObject, @unchecked Sendable {  // its state is `let`
        let policy: SessionDelegate
        /// Not forwarded: if the delegate had this method, a session would send the challenges of TLS there, and not to
        /// ``ServerTrust``.
        private static let sessionChallenge = Selector(("URLSession:didReceiveChallenge:completionHandler:"))

        init(_ policy: SessionDelegate) {
            self.policy = policy
        }

        override func responds(to selector: Selector!) -> Bool {
            super.responds(to: selector) || (selector != Self.sessionChallenge && policy.responds(to: selector))
        }

        override func forwardingTarget(for selector: Selector!) -> Any? { policy }
    }

    extension URLSessionTransport: NativeTransport {
        package func perform(
            _ request: URLRequest, cacheTime: TimeInterval?, receive: @escaping @Sendable (NativeEvent) -> Void
        ) -> any Cancellable {
            let transfer = URLSessionTransfer(
                session.dataTask(with: request), of: session, policy: router.policy,
                native: NativeSessionTask(request, receive), cacheTime: cacheTime
            ) { receive(.transfer($0)) }
            begin(transfer)
            return transfer
        }
    }

    /// The events of a task in a session that caches by itself.
    private final class NativeSessionTask: NativeReports {
        private struct State {
            /// Nil once the transfer was cancelled.
            var receive: (@Sendable (NativeEvent) -> Void)?
            /// The last request, as the synchronizer made it: the task's own may have fields that the session added.
            var request: URLRequest
        }

        private let state: Locked<State>

        init(_ request: URLRequest, _ receive: @escaping @Sendable (NativeEvent) -> Void) {
            state = Locked(State(receive: receive, request: request))
        }

        func redirected(by response: HTTPURLResponse) -> URLRequest? {
            guard let next = state.withLock({ $0.request }).redirected(by: response) else { return nil }
            state.withLock { $0.request = next }
            report(.redirected(by: ResponseHead(response), to: next))
            return next
        }

        func stored(_ proposed: CachedURLResponse) -> CachedURLResponse? {
            let decision = StoringDecision(proposed)
            report(.storing(decision))
            return decision.decided
        }

        func servedFromCache() { report(.servedFromSessionCache) }

        func cancel() { state.withLock { $0.receive = nil } }

        private func report(_ event: NativeEvent) {
            let receive = state.withLock { $0.receive }
            receive?(event)
        }
    }

    extension NetworkTrace {
        /// Nil: the delegate has reported the metrics before the end of the task.
        init?(of task: URLSessionTask) { nil }
    }
#endif
