import Foundation

/// The delegate of a session. It routes events to the transfers of their tasks, through the ``SessionDelegate`` if that is a
/// subclass, and asks the ``SessionDelegate`` for decisions.
final class TransferRouter:
    PolicyHolder, URLSessionDataDelegate, SessionEventRouter, @unchecked Sendable  // its state is `let` or Locked
{
    private let trust: ServerTrust
    /// Whether the policy is a subclass, which sees each event as `URLSession` reports it.
    let isWatched: Bool
    /// The transfers by the object identifiers of their tasks. A transfer keeps its task alive, so the identifier is not reused.
    /// (Task identifiers are unique within one session only.)
    private let transfers = Locked<[ObjectIdentifier: URLSessionTransfer]>([:])
    /// Handles the ends of transfers, so that the delegate's queue can receive other bodies while storing a response waits for the
    /// disk. Nil if nothing is stored, because the thread switch costs more than the rest.
    private let completions: DispatchQueue?
    /// The delegate's queue.
    private let queue: DispatchQueue

    init(_ policy: SessionDelegate, tls: TLSConfiguration, queue: DispatchQueue, storesResponses: Bool) {
        self.queue = queue
        completions =
            storesResponses ? DispatchQueue(label: "Synchronizer.completions", qos: .userInitiated) : nil
        trust = ServerTrust(tls)
        isWatched = policy.isSubclass
        super.init(policy)
    }

    func add(_ transfer: URLSessionTransfer) {
        transfers.withLock { $0[ObjectIdentifier(transfer.task)] = transfer }
    }

    func transfer(of task: URLSessionTask) -> URLSessionTransfer? {
        transfers.withLock { $0[ObjectIdentifier(task)] }
    }

    /// Ends the transfers that may use the network.
    func interrupt() {
        let all = transfers.withLock { Array($0.values) }
        for transfer in all where transfer.task.originalRequest?.cachePolicy != .returnCacheDataDontLoad {
            transfer.interrupt(on: queue, completions: completions)
        }
    }

    // MARK: - SessionEventRouter

    func received(_ response: URLResponse, of task: URLSessionTask) {
        transfer(of: task)?.received(response)
    }

    func received(_ data: Data, of task: URLSessionTask) {
        transfer(of: task)?.report(.data(data))
    }

    func collected(_ metrics: URLSessionTaskMetrics, of task: URLSessionTask) {
        guard let transfer = transfer(of: task) else { return }
        if metrics.transactionMetrics.last?.resourceFetchType == .localCache { transfer.native?.servedFromCache() }
        if let network = NetworkTrace(metrics) { transfer.report(.measured(network)) }
    }

    func ended(_ task: URLSessionTask, with error: (any Error)?) {
        let transfer = transfers.withLock { $0.removeValue(forKey: ObjectIdentifier(task)) }
        transfer?.end(error, on: completions)
    }

    func nextRequest(of task: URLSessionTask, after response: HTTPURLResponse) -> URLRequest? {
        transfer(of: task)?.native?.redirected(by: response)
    }

    // MARK: - URLSessionDataDelegate

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        if isWatched {
            policy.urlSession(session, dataTask: dataTask, didReceive: response, completionHandler: completionHandler)
        } else {
            received(response, of: dataTask)
            completionHandler(.allow)
        }
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        if isWatched {
            policy.urlSession(session, dataTask: dataTask, didReceive: data)
        } else {
            received(data, of: dataTask)
        }
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        let expected = totalBytesExpectedToSend > 0 ? Int(clamping: totalBytesExpectedToSend) : nil
        transfer(of: task)?.report(.sent(Int(clamping: totalBytesSent), of: expected))
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        if isWatched {
            policy.urlSession(session, task: task, didCompleteWithError: error)
        } else {
            ended(task, with: error)
        }
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics
    ) {
        policy.urlSession(session, task: task, didFinishCollecting: metrics)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        policy.urlSession(
            session, task: task, willPerformHTTPRedirection: response, newRequest: request,
            completionHandler: completionHandler)
    }

    /// Called only by a session that stores responses itself. In managed mode the synchronizer asks the policy.
    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, willCacheResponse proposedResponse: CachedURLResponse,
        completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void
    ) {
        let transfer = transfer(of: dataTask)
        let proposed = proposedResponse.proposing(cacheTime: transfer?.cacheTime)
        policy.urlSession(session, dataTask: dataTask, willCacheResponse: proposed) { decided in
            completionHandler(decided.flatMap { transfer?.native?.stored($0.proposing(cacheTime: nil)) })
        }
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        let transfer = transfer(of: task)
        if ServerTrust.isConcerned(with: challenge) {
            return trust.decide(challenge) { decision in
                switch decision {
                case .byDefault: completionHandler(.performDefaultHandling, nil)
                case .use(let credential): completionHandler(.useCredential, credential)
                case .refuse(let failure):
                    transfer?.refuse(failure)
                    completionHandler(.cancelAuthenticationChallenge, nil)
                }
            }
        }
        policy.urlSession(session, task: task, didReceive: challenge) { disposition, credential in
            if let user = challenge.user(after: disposition, credential: credential) {
                transfer?.report(.authorized(user))
            }
            completionHandler(disposition, credential)
        }
    }
}

extension URLAuthenticationChallenge {
    /// Identifies the user whose credential answers the challenge; nil without a credential, or for a proxy's challenge.
    fileprivate func user(
        after disposition: URLSession.AuthChallengeDisposition, credential: URLCredential?
    ) -> String? {
        guard !protectionSpace.isProxy() else { return nil }
        switch disposition {
        case .useCredential: return credential.map { "user \($0.user ?? "")" }
        case .performDefaultHandling: return proposedCredential.map { "user \($0.user ?? "")" }
        default: return nil
        }
    }
}

extension NetworkTrace {
    /// The metrics of a task's last request, from a session that collects them.
    fileprivate init?(_ metrics: URLSessionTaskMetrics) {
        guard let last = metrics.transactionMetrics.last else { return nil }
        self.init()
        nameLookup = Self.seconds(from: last.domainLookupStartDate, to: last.domainLookupEndDate)
        connect = Self.seconds(from: last.connectStartDate, to: last.secureConnectionStartDate ?? last.connectEndDate)
        secureConnection = Self.seconds(from: last.secureConnectionStartDate, to: last.secureConnectionEndDate)
        firstByte = Self.seconds(from: last.fetchStartDate, to: last.responseStartDate)
        protocolName = last.networkProtocolName
        isConnectionReused = last.isReusedConnection
        remoteAddress = last.remoteAddress
        bytesSent = Int(clamping: last.countOfRequestHeaderBytesSent + last.countOfRequestBodyBytesSent)
        bytesReceived = Int(clamping: last.countOfResponseHeaderBytesReceived + last.countOfResponseBodyBytesReceived)
    }

    private static func seconds(from start: Date?, to end: Date?) -> TimeInterval? {
        guard let start, let end else { return nil }
        return max(0, end.timeIntervalSince(start))
    }
}
