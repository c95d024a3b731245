import Foundation
import FoundationNetworking

/// What a configuration says about cookies.
struct CookieSettings: Sendable {
    private let jar: CookieJar?
    private let sends: Bool
    private let policy: HTTPCookie.AcceptPolicy

    init(_ configuration: URLSessionConfiguration) {
        jar = configuration.httpCookieStorage.map(CookieJar.jar(of:))
        sends = configuration.httpShouldSetCookies
        policy = configuration.httpCookieAcceptPolicy
    }

    /// The `Cookie` line that the session adds to a request. A request with one of its own keeps that.
    func header(for request: URLRequest) -> String? {
        // The jar comes first: Foundation takes longer to tell of a request than an empty jar does.
        guard sends, let jar, !jar.isEmpty, request.httpShouldHandleCookies, let url = request.url else { return nil }
        guard let header = jar.header(for: url, at: Date()) else { return nil }
        return request.value(forHTTPHeaderField: "Cookie") == nil ? header : nil
    }

    /// Takes the cookies of a response, before its delegate receives it. Do not call it on the engine's thread.
    func store(_ head: CurlResponseHead, for request: URLRequest) {
        guard request.httpShouldHandleCookies, let jar else { return }
        let lines = head.fields.filter { $0.isNamed("set-cookie") }.map(\.value)
        guard !lines.isEmpty else { return }
        jar.store(lines, from: head.url, at: Date(), policy: policy, mainDocument: request.mainDocumentURL)
    }
}
