import Foundation
import FoundationNetworking

/// Decides which request follows a redirect (RFC 9110 §15.4). Pure.
///
/// These rules apply to a session that an app uses directly: it follows redirects as `URLSession` does. The loads of a
/// `Synchronizer` obey the rules of HTTPCaching instead (`RedirectRules.swift`). Those also forbid redirects from https to http,
/// and redirects of a stream. If a redirect leads to another origin, they also drop fields that only look like credentials.
enum SessionRedirects {
    /// The maximum number of redirects that a task follows.
    static let limit = 20

    /// Whether a status is that of a redirect.
    static func isRedirect(_ status: Int) -> Bool { [301, 302, 303, 307, 308].contains(status) }

    /// The next request. Nil if the response is not a redirect or has no usable target; such a response is final.
    static func request(after request: URLRequest, head: CurlResponseHead) -> URLRequest? {
        guard isRedirect(head.status),
            let location = head.fields.first(where: { $0.isNamed(FieldName.location) })?.value,
            let target = URLReference.resolve(location, against: head.url)
        else { return nil }
        var next = request
        next.url = target
        let method = request.httpMethod ?? "GET"
        if !keepsMethod(status: head.status, method: method) {
            next.httpMethod = "GET"
            next.httpBody = nil
            next.httpBodyStream = nil
            remove(bodyFields, from: &next)
        }
        if URLReference.origin(of: target.absoluteString) != URLReference.origin(of: head.url.absoluteString) {
            remove(originFields, from: &next)
        }
        return next
    }

    /// As in the Fetch standard, 303 changes every method except HEAD to GET, and 301 and 302 change POST to GET.
    private static func keepsMethod(status: Int, method: String) -> Bool {
        switch status {
        case 303: method == "GET" || method == "HEAD"
        case 301, 302: method != "POST"
        default: true
        }
    }

    /// The fields that describe a body.
    private static let bodyFields = [
        FieldName.contentType, FieldName.contentLength, FieldName.contentEncoding, FieldName.contentLanguage,
        FieldName.contentLocation, FieldName.transferEncoding,
    ]
    /// The fields that are meant for one origin.
    private static let originFields = [
        FieldName.authorization, FieldName.cookie, FieldName.proxyAuthorization, FieldName.host,
    ]

    private static func remove(_ names: [String], from request: inout URLRequest) {
        for name in (request.allHTTPHeaderFields ?? [:]).keys where names.contains(where: name.isFieldName) {
            request.setValue(nil, forHTTPHeaderField: name)
        }
    }
}
