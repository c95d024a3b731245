#if canImport(FoundationNetworking)
    import Foundation

    // `URLSession` on Linux makes a timer anew for each line of a head and each part of a body, and each of them wakes a
    // thread to be set and another time to be cancelled: a third of what a small load costs (Swift 6.3.1). It sets none
    // if the time is longer than Dispatch can count.
    extension URLRequest {
        private static let ownDefault: TimeInterval = 60
        private static let beyondDispatch: TimeInterval = 1e12

        /// Seconds after which `IdleTimer` is to end the transfer; nil leaves that to the session.
        ///
        /// What is sent with a body is left to it, for it alone sees the body go out. Whether a request's time-out was
        /// set cannot be told; one of 60 seconds, the default, is taken not to be.
        func idleLimitOfOurs(inPlaceOf configured: TimeInterval) -> TimeInterval? {
            guard httpBody == nil, httpBodyStream == nil, ["http", "https"].contains(url?.scheme?.lowercased())
            else { return nil }
            return timeoutInterval == Self.ownDefault ? configured : timeoutInterval
        }

        /// The same request, which the session does not end.
        var withoutIdleLimit: URLRequest {
            var request = self
            request.timeoutInterval = Self.beyondDispatch
            return request
        }
    }
#endif
