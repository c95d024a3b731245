#if canImport(Darwin)
    import Foundation

    /// The session keeps the cookies that responses set.
    struct ResponseCookies: Sendable {
        init() {}

        init(takingOverFrom configuration: URLSessionConfiguration, _ changes: CookieChanges) {}

        func keep(from response: URLResponse) {}
    }

    extension HTTPCookieStorage {
        /// Whether there are any cookies. To find out would take longer than to look for those of a URL.
        var mayHaveCookies: Bool { true }
    }
#endif
