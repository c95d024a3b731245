import Foundation
import HTTPCaching

/// Where a redirect leads (RFC 9110 §15.4), as a function of the request and the answer.
///
/// Foundation on Linux resolves relative targets wrongly and sends every field to every origin, so the next request is
/// always made anew from the one before.
package enum Redirect {
    package enum Step: Sendable {
        /// The answer is none that leads elsewhere.
        case stay
        case follow(URLRequest)
        /// The target must not be asked.
        case refuse(URLError.Code)
    }

    /// The most redirects that are followed in a row.
    package static let limit = 20

    /// Whether a response leads elsewhere. An empty `Location` leads nowhere, as browsers have it.
    package static func leads(_ status: Int, _ location: String?) -> Bool {
        [301, 302, 303, 307, 308].contains(status) && location?.isEmpty == false
    }

    /// - Parameter location: the answer's `Location`.
    package static func step(after request: URLRequest, status: Int, location: String?) -> Step {
        guard leads(status, location), let location, let origin = request.url else { return .stay }
        guard let target = target(of: location, from: origin) else { return .refuse(.badURL) }
        guard let scheme = target.scheme?.lowercased(), scheme == "http" || scheme == "https", target.host != nil else {
            return .refuse(.unsupportedURL)
        }
        if scheme == "http", origin.scheme?.lowercased() == "https" {
            return .refuse(.appTransportSecurityRequiresSecureConnection)
        }
        if keepsMethod(status, request.httpMethod ?? "GET") {
            // A stream was read when it was sent; there is nothing to send again.
            guard request.httpBodyStream == nil else { return .refuse(.requestBodyStreamExhausted) }
            return .follow(next(request, to: target, from: origin, keepingMethod: true))
        }
        return .follow(next(request, to: target, from: origin, keepingMethod: false))
    }

    /// The request that follows a response; nil if it leads nowhere, or must not be followed.
    package static func request(from request: URLRequest, to response: HTTPURLResponse) -> URLRequest? {
        let location = HTTPFields(of: response).reference("Location")
        guard case .follow(let next) = step(after: request, status: response.statusCode, location: location) else {
            return nil
        }
        return next
    }

    /// RFC 3986 §5.2; the fragment is handed on where the target has none of its own (RFC 9110 §10.2.2).
    private static func target(of location: String, from origin: URL) -> URL? {
        guard let resolved = URL(string: cleaned(location), relativeTo: origin)?.absoluteURL.withLowercaseScheme else {
            return nil
        }
        guard resolved.fragment == nil, let fragment = origin.fragment(percentEncoded: true),
            var parts = URLComponents(url: resolved, resolvingAgainstBaseURL: true)
        else { return resolved }
        parts.percentEncodedFragment = fragment
        return parts.url ?? resolved
    }

    /// As browsers have it, a backslash before the query is a slash, and tabs and line breaks count for nothing.
    private static func cleaned(_ location: String) -> String {
        let plain = location.filter { !$0.isNewline && $0 != "\t" }
        let end = plain.firstIndex { $0 == "?" || $0 == "#" } ?? plain.endIndex
        return plain[..<end].replacingOccurrences(of: "\\", with: "/") + plain[end...]
    }

    /// RFC 9110 §15.4.2–§15.4.9: 303 asks for a `GET`; after 301 and 302 a `POST` becomes one, as it always did.
    private static func keepsMethod(_ status: Int, _ method: String) -> Bool {
        switch status {
        case 303: return method == "GET" || method == "HEAD"
        case 301, 302: return method != "POST"
        default: return true
        }
    }

    private static func next(_ request: URLRequest, to target: URL, from origin: URL, keepingMethod: Bool) -> URLRequest
    {
        var next = request
        next.url = target
        next.mainDocumentURL = request.mainDocumentURL == origin ? target : request.mainDocumentURL
        var dropped: Set<String> = []
        if !keepingMethod {
            next.httpMethod = "GET"
            next.httpBody = nil
            next.httpBodyStream = nil
            dropped.formUnion(aboutTheBody)
        }
        let leavesOrigin = !sameOrigin(origin.absoluteString, target.absoluteString)
        for name in (next.allHTTPHeaderFields ?? [:]).keys
        where dropped.contains(name.lowercased()) || (leavesOrigin && isForOneOrigin(name)) {
            next.setValue(nil, forHTTPHeaderField: name)
        }
        return next
    }

    /// Whether a field is meant for the origin that was asked, and for no other: what is secret, and `Host`, which names
    /// the origin.
    static func isForOneOrigin(_ name: String) -> Bool {
        Credentials.areSecret(in: name) || HTTPFields.same(name, "Host")
    }

    private static let aboutTheBody: Set<String> = [
        "content-encoding", "content-language", "content-length", "content-location", "content-type",
        "transfer-encoding",
    ]
}
