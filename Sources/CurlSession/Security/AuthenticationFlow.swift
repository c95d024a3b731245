import Foundation
import FoundationNetworking

/// Decides how a task answers the challenges of one server or proxy: by which scheme, with which credential, and how often. Pure.
///
/// Pass each 401 or 407 to `received`, and the delegate's decision about it to `decided`. Without a credential, the response is
/// delivered as it is, with its body.
struct AuthenticationFlow: Sendable {
    enum Step: Equatable, Sendable {
        /// The response is final, and is delivered.
        case deliver
        /// The delegate is asked for a credential.
        case ask(AuthenticationScheme, previousFailures: Int)
        /// The request is sent once more, with this credential.
        case send(AuthenticationScheme, Credential)
        /// The task fails with `.userCancelledAuthentication`.
        case cancel
    }

    struct Credential: Equatable, Sendable {
        var user: String
        var password: String
    }

    /// What a delegate decides.
    enum Decision: Equatable, Sendable {
        case use(Credential?)
        case performDefault
        case reject
        case cancel
    }

    /// The maximum number of credentials that are tried. Without a limit, a delegate that always gives the same one would loop
    /// forever.
    static let limit = 16

    private var candidates: [AuthenticationScheme] = []
    private var sent: Credential?
    private var attempts = 0
    private var failures = 0

    /// The next step after a response with challenges.
    mutating func received(_ challenges: [Challenge]) -> Step {
        candidates = AuthenticationScheme.schemes(in: challenges)
        guard let scheme = candidates.first, attempts < Self.limit else { return .deliver }
        if let sent {
            if case .digest(let digest) = scheme, digest.isStale { return send(scheme, with: sent) }
            failures += 1
        }
        return .ask(scheme, previousFailures: failures)
    }

    /// The next step after the delegate has decided about the scheme that it was last asked about.
    /// - Parameter proposed: The credential that the storage or the proxy's configuration has for that scheme.
    mutating func decided(_ decision: Decision, proposed: Credential?) -> Step {
        guard let scheme = candidates.first else { return .deliver }
        switch decision {
        case .use(let credential?): return send(scheme, with: credential)
        case .performDefault:
            // A proposed credential that has been refused once would be refused again.
            guard let proposed, proposed != sent else { return .deliver }
            return send(scheme, with: proposed)
        case .use(nil): return .deliver
        case .cancel: return .cancel
        case .reject:
            candidates.removeFirst()
            return candidates.first.map { .ask($0, previousFailures: failures) } ?? .deliver
        }
    }

    private mutating func send(_ scheme: AuthenticationScheme, with credential: Credential) -> Step {
        attempts += 1
        sent = credential
        return .send(scheme, credential)
    }
}

extension AuthenticationFlow.Credential {
    init?(_ credential: URLCredential?) {
        guard let user = credential?.user, let password = credential?.password else { return nil }
        self.init(user: user, password: password)
    }
}

extension AuthenticationScheme {
    /// The server's protection space for this scheme.
    func space(of url: URL) -> URLProtectionSpace {
        let scheme = url.scheme?.lowercased() ?? "http"
        return URLProtectionSpace(
            host: url.host(percentEncoded: true)?.lowercased() ?? "", port: url.port ?? (scheme == "https" ? 443 : 80),
            protocol: scheme, realm: realm, authenticationMethod: methodName)
    }

    /// The name that Foundation has for it.
    var methodName: String {
        switch self {
        case .basic: NSURLAuthenticationMethodHTTPBasic
        case .digest: NSURLAuthenticationMethodHTTPDigest
        }
    }
}
