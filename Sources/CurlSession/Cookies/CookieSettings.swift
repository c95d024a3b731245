import Foundation
import FoundationNetworking

/// The cookie settings of a configuration.
struct CookieSettings: Sendable {
    private let jar: CookieJar?
    private let sends: Bool
    private let policy: HTTPCookie.AcceptPolicy

    init(_ configuration: URLSessionConfiguration) {
        jar = configuration.httpCookieStorage.map(CookieJar.jar(of:))
        sends = configuration.httpShouldSetCookies
        policy = configuration.httpCookieAcceptPolicy
    }

    /// The value of the `Cookie` line that the session adds to a request. Nil if the request has a `Cookie` line of its own.
    func header(for request: URLRequest) -> String? {
        guard sends, let jar,
            let header = jar.header(for: request.httpShouldHandleCookies ? request.url : nil, at: Date())
        else { return nil }
        return request.value(forHTTPHeaderField: FieldName.cookie) == nil ? header : nil
    }

    /// Stores the cookies of a response. Call it before the delegate receives the response, and not on the engine's thread.
    func store(_ head: CurlResponseHead, for request: URLRequest) {
        guard request.httpShouldHandleCookies, let jar else { return }
        let lines = head.fields.filter { $0.isNamed(FieldName.setCookie) }.map(\.value)
        guard !lines.isEmpty else { return }
        jar.store(lines, from: head.url, at: Date(), policy: policy, mainDocument: request.mainDocumentURL)
    }
}
