#if canImport(FoundationNetworking)
    import Foundation

    // `URLSession` on Linux makes a timer anew for each line of a head and each part of a body, and each of them wakes a
    // thread to be set and another time to be cancelled: a third of what a small load costs (Swift 6.3.1). It sets none
    // if the time is longer than Dispatch can count.
    private let beyondDispatch: TimeInterval = 1e12

    extension URLSessionConfiguration {
        /// Seconds for which nothing need be heard of a transfer, from now on not the session's business.
        func takeIdleLimit() -> TimeInterval {
            defer { timeoutIntervalForRequest = beyondDispatch }
            return timeoutIntervalForRequest
        }
    }

    extension URLRequest {
        private static let defaultIdleLimit: TimeInterval = 60

        /// The request as the session is to get it, and the seconds after which `IdleTimer` is to end its transfer; nil
        /// where the session does. `configured` is for requests that do not say.
        ///
        /// A request with a body is left to the session, for it alone sees the body go out. Whether a request's time-out
        /// was set cannot be told; one of 60 seconds, the default, is taken not to be.
        func dividingIdleLimit(_ configured: TimeInterval) -> (URLRequest, TimeInterval?) {
            let own = timeoutInterval == Self.defaultIdleLimit ? nil : timeoutInterval
            guard httpBody == nil, httpBodyStream == nil else { return (limited(to: own ?? configured), nil) }
            guard let own else { return (self, configured) }
            return (limited(to: beyondDispatch), own)
        }

        private func limited(to limit: TimeInterval) -> URLRequest {
            var request = self
            request.timeoutInterval = min(limit, beyondDispatch)  // an infinite one would end the process
            return request
        }
    }
#endif
