import Foundation

/// Gives each request the credentials that the session's configuration holds, and so to the origin that is asked.
///
/// A session adds its `httpAdditionalHeaders` to every request it sends, also to that for a redirect's target, whoever
/// that is. So they are taken out of the session's configuration, and put into requests: those that a redirect leads
/// to another origin lose them.
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

    func removeStoredSoon(for requests: [URLRequest]) { base.removeStoredSoon(for: requests.map(credentialed)) }

    func removeStored(for request: URLRequest) { base.removeStored(for: credentialed(request)) }

    func removeAllStored() { base.removeAllStored() }

    /// What a request says itself goes before what the session says (`URLSessionConfiguration.httpAdditionalHeaders`).
    private func credentialed(_ request: URLRequest) -> URLRequest {
        var request = request
        var fields = request.allHTTPHeaderFields ?? [:]
        for (name, value) in credentials where request.value(forHTTPHeaderField: name) == nil { fields[name] = value }
        request.allHTTPHeaderFields = fields  // `setValue` would leave out what is malformed, and nobody would notice
        return request
    }
}

extension URLSessionConfiguration {
    /// Takes the credentials out of the fields that the session adds to requests, and returns them.
    func removeCredentials() -> [String: String] {
        var credentials: [String: String] = [:]
        for (name, value) in httpAdditionalHeaders ?? [:] {
            guard let name = name as? String, Redirect.isForOneOrigin(name) else { continue }
            credentials[name] = "\(value)"
            httpAdditionalHeaders?.removeValue(forKey: name)
        }
        return credentials
    }
}
