import Foundation

/// How a task authenticates to servers and proxies. Credentials are sent only to the server or proxy that asked for them.
struct TaskAuthentication: Sendable {
    struct Proxy: Sendable {
        var flow = AuthenticationFlow()
        /// The `Proxy-Authorization` of the next request.
        var answer: String?
        /// The credential and the scheme that libcurl uses when it asks for a tunnel (CONNECT).
        var credential: (AuthenticationFlow.Credential, schemes: Int)?
    }

    var server = AuthenticationFlow()
    /// The `Authorization` of the next request.
    var answer: String?
    /// The proxies that have asked for a credential, by their URLs.
    var proxies: [String: Proxy] = [:]

    /// Drops what does not apply to the next request, because the task follows a redirect: the server's credentials, and the
    /// answers to proxies with Digest, which hold for one method and target.
    mutating func leave() {
        (server, answer) = (AuthenticationFlow(), nil)
        for (url, proxy) in proxies where proxy.credential?.schemes == AuthenticationScheme.curlDigest {
            proxies[url] = Proxy(credential: proxy.credential)
        }
    }
}

/// A challenge that the delegate is asked about.
struct TaskChallenge: Sendable {
    var scheme: AuthenticationScheme
    var previousFailures: Int
    /// The head of the response with the challenge; nil if a proxy refused a tunnel.
    var head: CurlResponseHead?
    /// The refusal of a tunnel that is the challenge.
    var refusal: TunnelRefusal?
    /// The proxy that sent the challenge; nil if the server sent it.
    var proxy: ProxyRules.Proxy?
    var url: URL
}
