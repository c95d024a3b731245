#if canImport(Darwin)
    import Foundation
    import HTTPCaching

    /// The cookies that a session adds to requests.
    struct SessionCookies: Sendable {
        private let storage: HTTPCookieStorage?

        init(of session: URLSession, configuration: URLSessionConfiguration) {
            storage = configuration.httpShouldSetCookies ? configuration.httpCookieStorage : nil
        }

        /// The value of `Cookie`; nil if none are added.
        func header(for request: URLRequest) -> String? {
            guard request.httpShouldHandleCookies, let url = request.url, let cookies = storage?.cookies(for: url),
                !cookies.isEmpty
            else { return nil }
            return HTTPCookie.requestHeaderFields(with: cookies)[FieldName.cookie]
        }
    }
#endif
