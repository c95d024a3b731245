import Foundation
import Synchronizer

/// A synchronizer, configured as a line of the list says.
struct Client {
    let synchronizer: Synchronizer
    private let delegate: Credentials

    /// Answers challenges with one credential, and each only once.
    final class Credentials: SessionDelegate, @unchecked Sendable {  // `user` is set before the session exists
        var user: URLCredential?

        override func urlSession(
            _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
            completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
        ) {
            guard let user, challenge.previousFailureCount == 0 else {
                return completionHandler(.performDefaultHandling, nil)
            }
            completionHandler(.useCredential, user)
        }
    }

    init(_ options: LoadList.Options, _ list: LoadList) throws {
        delegate = Credentials(cacheTime: nil)
        delegate.user = options.user
        var configuration = Synchronizer.Configuration(urlCache: nil)
        configuration.sessionDelegate = delegate
        configuration.caching = .managed
        configuration.retry = .none
        configuration.sessionConfiguration = Self.session(options)
        configuration.tls = try Self.tls(options, list)
        configuration.urlCache = URLCache(memoryCapacity: 16 << 20, diskCapacity: 0, diskPath: nil)
        synchronizer = Synchronizer(configuration: configuration)
    }

    static func session(_ options: LoadList.Options) -> URLSessionConfiguration {
        let session = URLSessionConfiguration.ephemeral
        session.timeoutIntervalForRequest = 20
        guard let proxy = options.proxy, let host = proxy.host, let port = proxy.port else { return session }
        var proxies: [AnyHashable: Any] = [
            "HTTPEnable": 1, "HTTPProxy": host, "HTTPPort": port,
            "HTTPSEnable": 1, "HTTPSProxy": host, "HTTPSPort": port,
        ]
        proxies["kCFProxyUsernameKey"] = proxy.user
        proxies["kCFProxyPasswordKey"] = proxy.password
        session.connectionProxyDictionary = proxies
        return session
    }

    private static func tls(_ options: LoadList.Options, _ list: LoadList) throws -> TLSConfiguration {
        var tls = TLSConfiguration()
        tls.additionalAuthorities = list.authority
        if options.minimum == "1.3" { tls.minimumVersion = .tls13 }
        if let pin = options.pin { tls.pinnedPublicKeys = ["127.0.0.1": [pin]] }
        if let file = options.certificate {
            tls.clientCertificate = .init(
                pkcs12: try Data(contentsOf: file.appendingPathExtension("p12")), password: "secret")
        }
        return tls
    }
}
