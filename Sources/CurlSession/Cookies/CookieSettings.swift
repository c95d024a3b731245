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
        guard sends, let jar,
            let header = jar.header(for: request.httpShouldHandleCookies ? request.url : nil, at: Date())
        else { return nil }
        return request.value(forHTTPHeaderField: FieldName.cookie) == nil ? header : nil
    }

    /// Takes the cookies of a response, before its delegate receives it. Do not call it on the engine's thread.
    func store(_ head: CurlResponseHead, for request: URLRequest) {
        guard request.httpShouldHandleCookies, let jar else { return }
        let lines = head.fields.filter { $0.isNamed(FieldName.setCookie) }.map(\.value)
        guard !lines.isEmpty else { return }
        jar.store(lines, from: head.url, at: Date(), policy: policy, mainDocument: request.mainDocumentURL)
    }
}
