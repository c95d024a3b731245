import Foundation
import FoundationNetworking

/// Which request follows a redirect (RFC 9110 §15.4). Pure.
enum SessionRedirects {
    /// The most redirects that a task follows.
    static let limit = 20

    /// Whether a status is that of a redirect.
    static func leads(_ status: Int) -> Bool { [301, 302, 303, 307, 308].contains(status) }

    /// The next request; nil if the response is not a redirect, or has no usable target: it is final then.
    static func request(after request: URLRequest, _ head: CurlResponseHead) -> URLRequest? {
        guard leads(head.status),
            let location = head.fields.first(where: { $0.isNamed("location") })?.value,
            let target = URLReference.resolve(location, against: head.url)
        else { return nil }
        var next = request
        next.url = target
        let method = request.httpMethod ?? "GET"
        if !keepsMethod(head.status, method) {
            next.httpMethod = "GET"
            next.httpBody = nil
            next.httpBodyStream = nil
            remove(
                ["content-type", "content-length", "content-encoding", "content-language", "content-location"], &next)
        }
        if Exchange.origin(of: target.absoluteString) != Exchange.origin(of: head.url.absoluteString) {
            remove(["authorization", "cookie", "proxy-authorization", "host"], &next)
        }
        return next
    }

    /// As the Fetch standard has it: 303 makes all but HEAD a GET, 301 and 302 make POST one.
    private static func keepsMethod(_ status: Int, _ method: String) -> Bool {
        switch status {
        case 303: method == "GET" || method == "HEAD"
        case 301, 302: method != "POST"
        default: true
        }
    }

    private static func remove(_ names: [String], _ request: inout URLRequest) {
        for name in (request.allHTTPHeaderFields ?? [:]).keys where names.contains(name.lowercased()) {
            request.setValue(nil, forHTTPHeaderField: name)
        }
    }
}
