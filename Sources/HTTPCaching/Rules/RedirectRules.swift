/// What to do about a response that may be a redirect (RFC 9110 §15.4).
///
/// These rules apply to the loads of a `Synchronizer`, on every platform. A `CurlSession` that is used without one follows
/// redirects by its own rules, `SessionRedirects`, which are those of `URLSession`.
package enum Redirect: Hashable, Sendable {
    /// The response is not a redirect.
    case none
    case follow(Target)
    /// The redirect must not be followed.
    case refuse(Refusal)

    /// What to change in the request to follow the redirect.
    package struct Target: Hashable, Sendable {
        package let url: URL
        /// If false, the next request is a `GET` without a body.
        package let keepsMethod: Bool
        /// Whether the target has another origin.
        package let leavesOrigin: Bool

        /// Whether the next request leaves out this field of the previous request.
        package func drops(_ name: String) -> Bool {
            (leavesOrigin && CacheRules.isForOneOrigin(name))
                || (!keepsMethod && Self.aboutTheBody.contains { HTTPFields.same($0, name) })
        }

        private static let aboutTheBody = [
            FieldName.contentEncoding, FieldName.contentLanguage, FieldName.contentLength, FieldName.contentLocation,
            FieldName.contentType, FieldName.transferEncoding,
        ]
    }

    package enum Refusal: Hashable, Sendable {
        case malformedTarget
        /// The target is not an HTTP URL with a host.
        case unsupportedTarget(URL)
        /// The redirect leads from https to http.
        case downgrade
        /// The body was a stream, which cannot be sent again.
        case bodyIsConsumed
    }
}

extension CacheRules {
    /// The maximum number of redirects in a row.
    package static let redirectLimit = 20

    /// Whether a response redirects. An empty `Location` does not, as in browsers.
    package static func isRedirect(status: Int, location: String?) -> Bool {
        [301, 302, 303, 307, 308].contains(status) && location?.isEmpty == false
    }

    /// Decides whether a response is a redirect, and how to follow it.
    ///
    /// - Parameters:
    ///   - url: the URL of the request that was answered, and `method` its method.
    ///   - location: the `Location` of the response.
    ///   - hasBodyStream: whether the body of the request was a stream.
    package static func redirect(
        from url: URL, method: String, hasBodyStream: Bool, status: Int, location: String?
    ) -> Redirect {
        guard isRedirect(status: status, location: location), let location else { return .none }
        guard let target = target(of: location, from: url), let scheme = target.scheme else {
            return .refuse(.malformedTarget)
        }
        guard scheme == "http" || scheme == "https", target.host != nil else {
            return .refuse(.unsupportedTarget(target))
        }
        if scheme == "http", url.scheme?.lowercased() == "https" { return .refuse(.downgrade) }
        let keepsMethod = keepsMethod(method, after: status)
        if keepsMethod, hasBodyStream { return .refuse(.bodyIsConsumed) }
        let leavesOrigin = !sameOrigin(url.absoluteString, target.absoluteString)
        return .follow(.init(url: target, keepsMethod: keepsMethod, leavesOrigin: leavesOrigin))
    }

    /// RFC 3986 §5.2; a target without a fragment inherits that of the original URL (RFC 9110 §10.2.2).
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

    /// As in browsers, a backslash before the query is a slash, and tabs and line breaks are ignored.
    private static func cleaned(_ location: String) -> String {
        let plain = location.filter { !$0.isNewline && $0 != "\t" }
        let end = plain.firstIndex { $0 == "?" || $0 == "#" } ?? plain.endIndex
        return String(plain[..<end].map { $0 == "\\" ? "/" : $0 }) + plain[end...]
    }

    /// RFC 9110 §15.4.2–§15.4.9: after 303 the next request is a `GET`, or again a `HEAD`. After 301 and 302 a `POST` becomes a
    /// `GET`, as is common.
    private static func keepsMethod(_ method: String, after status: Int) -> Bool {
        switch status {
        case 303: return method == "GET" || method == "HEAD"
        case 301, 302: return method != "POST"
        default: return true
        }
    }
}
