import Foundation
import HTTPCaching

// Foundation on Linux resolves relative targets wrongly and sends every field to every origin. So `CacheRules` decides where a
// redirect leads, and the next request is always made from the previous one, not by Foundation.
extension URLRequest {
    /// Where a response to this request redirects to, if it does.
    package func redirect(status: Int, location: String?) -> Redirect {
        guard let url else { return .none }
        return CacheRules.redirect(
            from: url, method: httpMethod ?? "GET", hasBodyStream: httpBodyStream != nil, status: status,
            location: location)
    }

    /// The request to send to the target of a redirect.
    package func following(_ target: Redirect.Target) -> URLRequest {
        var next = self
        next.url = target.url
        next.mainDocumentURL = mainDocumentURL == url ? target.url : mainDocumentURL
        if !target.keepsMethod {
            next.httpMethod = "GET"
            next.httpBody = nil
            next.httpBodyStream = nil
        }
        for name in (next.allHTTPHeaderFields ?? [:]).keys where target.drops(name) {
            next.setValue(nil, forHTTPHeaderField: name)
        }
        return next
    }

    /// The request to send after a response; nil if the response is no redirect, or must not be followed.
    package func redirected(by response: HTTPURLResponse) -> URLRequest? {
        let location = HTTPFields(of: response).reference(FieldName.location)
        guard case .follow(let target) = redirect(status: response.statusCode, location: location) else { return nil }
        return following(target)
    }
}

extension Redirect.Refusal {
    /// The error of a load that ends with such a redirect.
    package var error: URLError {
        switch self {
        case .malformedTarget: URLError(.badURL, because: "a redirect leads to a malformed URL")
        case .unsupportedTarget(let url): Self.unsupported(url)
        case .downgrade:
            URLError(.appTransportSecurityRequiresSecureConnection, because: "a redirect leads from https to http")
        case .bodyIsConsumed:
            URLError(.requestBodyStreamExhausted, because: "a redirect needs the body again, whose stream was read")
        }
    }

    private static func unsupported(_ target: URL) -> URLError {
        let scheme = target.scheme ?? ""
        let reason =
            ["http", "https"].contains(scheme)
            ? "a redirect leads to a URL without a host"
            : "a redirect leads to the scheme \"\(scheme)\", which is not supported (http and https are)"
        return URLError(
            .unsupportedURL, userInfo: [NSLocalizedDescriptionKey: reason, NSURLErrorFailingURLErrorKey: target])
    }
}
