import Foundation

/// The cookies that a session adds to requests.
struct SessionCookies: Sendable {
    private let storage: HTTPCookieStorage

    /// Nil if it adds none.
    init?(of session: URLSession, _ configuration: URLSessionConfiguration) {
        guard configuration.httpShouldSetCookies, let storage = configuration.httpCookieStorage else { return nil }
        self.storage = storage
    }

    /// The value of `Cookie` in a request for a URL; nil without cookies.
    func header(for url: URL) -> String? {
        guard let cookies = storage.cookies(for: url), !cookies.isEmpty else { return nil }
        return HTTPCookie.requestHeaderFields(with: cookies)["Cookie"]
    }
}
