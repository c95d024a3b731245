import Foundation
import FoundationNetworking

/// How a task answers challenges.
extension TaskCore {
    // MARK: The engine's thread

    /// Answers the challenge of a 401 or 407. Nil if the response is to be delivered.
    func answer(_ head: CurlResponseHead, to exchange: Exchange) -> HeadAction? {
        let proxy = head.status == 407 && exchange.talksToProxy ? exchange.proxy : nil
        guard head.status == 401 || proxy != nil else { return nil }
        if let proxy { pool.proxyAnswers.withLock { $0[proxy.url] = nil } }
        let name = proxy == nil ? FieldName.wwwAuthenticate : FieldName.proxyAuthenticate
        let challenges = Challenge.parse(head.fields.filter { $0.isNamed(name) }.map(\.value))
        switch withFlow(of: proxy, { $0.received(challenges) }) {
        case .deliver, .cancel: return nil
        case .ask(let scheme, let failures):
            deliver(
                .challenge(
                    .init(scheme: scheme, previousFailures: failures, head: head, proxy: proxy, url: exchange.url)))
        case .send(let scheme, let credential):
            // This runs in a callback of libcurl, which must not call libcurl.
            pool.perform { [self] in send(scheme, credential: credential, to: proxy) }
        }
        return .wait
    }

    /// Answers a proxy that has refused a tunnel. Without a credential, the refusal is the response.
    func received(_ refusal: TunnelRefusal, of exchange: Exchange) {
        guard let proxy = exchange.proxy, let challenges = refusal.challenges, !isOver,
            case .ask(let scheme, let failures) = withFlow(of: proxy, { $0.received(challenges) })
        else { return end(with: refusal) }
        deliver(
            .challenge(
                .init(
                    scheme: scheme, previousFailures: failures, refusal: refusal, proxy: proxy, url: exchange.url)))
        pool.startDecisionTimeout(self)
    }

    private func end(with refusal: TunnelRefusal) {
        guard let head = refusal.head else { return end(refusal.error) }
        deliver(head)
        end(nil)
    }

    /// Changes the flow of a proxy, or else the server's.
    private func withFlow(
        of proxy: ProxyRules.Proxy?, _ change: (inout AuthenticationFlow) -> AuthenticationFlow.Step
    ) -> AuthenticationFlow.Step {
        guard let proxy else { return change(&authentication.server) }
        return change(&authentication.proxies[proxy.url, default: .init()].flow)
    }

    private func decided(
        _ decision: AuthenticationFlow.Decision, about challenge: TaskChallenge, proposed: URLCredential?
    ) {
        pool.engine.assertIsCurrent()
        guard !isOver else { return }
        let credential = AuthenticationFlow.Credential(proposed) ?? challenge.proxy?.credential
        switch withFlow(of: challenge.proxy, { $0.decided(decision, proposed: credential) }) {
        case .deliver:
            if let refusal = challenge.refusal { end(with: refusal) } else { transfer?.deliverPending() }
        case .cancel:
            dropTransfer()
            end(URLError(.userCancelledAuthentication))
        case .ask(let scheme, let failures):
            var next = challenge
            (next.scheme, next.previousFailures) = (scheme, failures)
            deliver(.challenge(next))
        case .send(let scheme, let credential): send(scheme, credential: credential, to: challenge.proxy)
        }
    }

    /// Sends the request again, with a credential for the proxy that asked for it, or for the server.
    private func send(
        _ scheme: AuthenticationScheme, credential: AuthenticationFlow.Credential, to proxy: ProxyRules.Proxy?
    ) {
        pool.engine.assertIsCurrent()
        guard !isOver, let request = state.withLock({ $0.currentRequest }), let url = request.url else { return }
        var nonce = ""
        for _ in 0..<2 { nonce += String(UInt64.random(in: .min ... .max), radix: 16) }
        let answer = scheme.answer(
            user: credential.user, password: credential.password, method: request.httpMethod ?? "GET",
            target: url.requestTarget, nonce: nonce)
        if let proxy {
            authentication.proxies[proxy.url]?.answer = answer
            authentication.proxies[proxy.url]?.credential = (credential, scheme.curlScheme)
            if case .basic = scheme { pool.proxyAnswers.withLock { $0[proxy.url] = answer } }
        } else {
            authentication.answer = answer
        }
        replaceTransfer(request)
    }

    // MARK: The delegate's queue

    func ask(
        about challenge: TaskChallenge, session: URLSession, task: URLSessionDataTask,
        delegate: (any URLSessionTaskDelegate)?
    ) {
        let space = challenge.proxy.map(challenge.scheme.space(of:)) ?? challenge.scheme.space(of: challenge.url)
        let storage = pool.options.credentials
        let proposed = storage?.storedCredential(for: space)
        guard let decision = state.withLock({ $0.mailbox.awaitDecision() }) else { return }
        let decide: @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void = {
            [self] disposition, credential in
            guard decided(decision) else { return }
            if disposition == .useCredential, let credential, credential.persistence != .none {
                storage?.store(credential, for: space)
            }
            pool.perform { [self] in
                decided(
                    AuthenticationFlow.Decision(disposition, credential: credential), about: challenge,
                    proposed: proposed)
            }
        }
        guard let delegate else { return decide(.performDefaultHandling, nil) }
        delegate.urlSession(
            session, task: task,
            didReceive: URLAuthenticationChallenge(
                protectionSpace: space, proposedCredential: proposed, previousFailureCount: challenge.previousFailures,
                failureResponse: (challenge.head ?? challenge.refusal?.head)?.httpURLResponse, error: nil,
                sender: ChallengeSender(decide)),
            completionHandler: decide)
    }
}

/// The `sender` of a challenge: a delegate may call its methods instead of the completion handler.
private final class ChallengeSender: NSObject, URLAuthenticationChallengeSender {
    private let decide: @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void

    init(_ decide: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void) {
        self.decide = decide
    }

    func use(_ credential: URLCredential, for challenge: URLAuthenticationChallenge) {
        decide(.useCredential, credential)
    }

    func continueWithoutCredential(for challenge: URLAuthenticationChallenge) { decide(.useCredential, nil) }

    func cancel(_ challenge: URLAuthenticationChallenge) { decide(.cancelAuthenticationChallenge, nil) }

    func performDefaultHandling(for challenge: URLAuthenticationChallenge) { decide(.performDefaultHandling, nil) }

    func rejectProtectionSpaceAndContinue(with challenge: URLAuthenticationChallenge) {
        decide(.rejectProtectionSpace, nil)
    }
}

extension AuthenticationFlow.Decision {
    fileprivate init(_ disposition: URLSession.AuthChallengeDisposition, credential: URLCredential?) {
        self =
            switch disposition {
            case .useCredential: .use(.init(credential))
            case .cancelAuthenticationChallenge: .cancel
            case .rejectProtectionSpace: .reject
            default: .performDefault
            }
    }
}

extension URL {
    /// Path and query as they are sent.
    fileprivate var requestTarget: String {
        let path = path(percentEncoded: true)
        return (path.isEmpty ? "/" : DotSegments.removed(from: path))
            + (query(percentEncoded: true).map { "?" + $0 } ?? "")
    }
}
