#if canImport(Darwin)
    import Foundation

    /// The session keeps the cookies that responses set.
    struct ResponseCookies: Sendable {
        init(takingOverFrom configuration: URLSessionConfiguration) {}

        func keep(from response: URLResponse) {}
    }
#endif
