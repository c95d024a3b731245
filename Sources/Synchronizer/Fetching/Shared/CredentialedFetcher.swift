import Foundation
import HTTPCaching

/// Adds the credentials of the session's configuration to requests, so that redirects to another origin drop them.
///
/// A session adds its `httpAdditionalHeaders` to every request, even to one that follows a redirect to another origin. So the
/// credentials are moved from the session's configuration into the requests.
final class CredentialedFetcher: Fetching {
    private let base: any Fetching
    private let credentials: [String: String]

    init(_ base: any Fetching, credentials: [String: String]) {
        self.base = base
        self.credentials = credentials
    }

    func fetch(
        _ request: URLRequest, options: FetchOptions, receive: @escaping @Sendable (FetchEvent) -> Void
    ) -> any Fetch {
        base.fetch(credentialed(request), options: options, receive: receive)
    }

    func sessionCookies(for request: URLRequest) -> String? { base.sessionCookies(for: credentialed(request)) }

    func keepObject(_ data: Data, as name: String, of source: DerivedSource) {
        base.keepObject(data, as: name, of: source)
    }

    func removeStoredSoon(for requests: [URLRequest]) { base.removeStoredSoon(for: requests.map(credentialed)) }

    func removeStored(for request: URLRequest, body: String?) {
        base.removeStored(for: credentialed(request), body: body)
    }

    func removeAllStored() { base.removeAllStored() }

    /// The request's own fields win, as with `URLSessionConfiguration.httpAdditionalHeaders`.
    private func credentialed(_ request: URLRequest) -> URLRequest {
        var request = request
        var fields = request.allHTTPHeaderFields ?? [:]
        for (name, value) in credentials where request.value(forHTTPHeaderField: name) == nil { fields[name] = value }
        request.allHTTPHeaderFields = fields  // `setValue` would drop a malformed value silently
        return request
    }
}

extension URLSessionConfiguration {
    /// Removes the credentials from the headers that the session adds to requests, and returns them.
    func removeCredentials() -> [String: String] {
        var credentials: [String: String] = [:]
        for (name, value) in httpAdditionalHeaders ?? [:] {
            guard let name = name as? String, CacheRules.isForOneOrigin(name) else { continue }
            credentials[name] = "\(value)"
            httpAdditionalHeaders?.removeValue(forKey: name)
        }
        return credentials
    }
}
