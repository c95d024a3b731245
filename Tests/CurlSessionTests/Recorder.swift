import Foundation
import FoundationNetworking

import SynchronizerSupport
@testable import CurlSession

/// A delegate that writes down what it is told, and answers as a test says.
final class Recorder: NSObject, CurlSessionDataDelegate {
    enum Call: Hashable {
        case head(Int)
        case redirect(Int, String?)
        case sent(Int64)
        case needsBody
        case end(URLError.Code?, Reason = Reason())
        case invalid
    }

    /// Why a task has failed, for the output of a test that fails. All reasons are equal.
    struct Reason: Hashable, CustomStringConvertible {
        var description = ""

        static func == (_: Reason, _: Reason) -> Bool { true }

        func hash(into _: inout Hasher) {}
    }

    struct Notes {
        var calls: [Call] = []
        var body = Data()
        var ends = 0
        var heads: [CurlResponseHead] = []
        var waiting: [(ends: Int, CheckedContinuation<Void, Never>)] = []
        var onInvalid: CheckedContinuation<Void, Never>?
    }

    let notes = Locked(Notes())
    /// What is done with a redirect; nil follows it.
    let redirecting: (@Sendable (URLSessionTask, URLRequest, @escaping @Sendable (URLRequest?) -> Void) -> Void)?
    let disposing: (@Sendable (URLSessionTask, @escaping @Sendable (URLSession.ResponseDisposition) -> Void) -> Void)?
    let receiving: (@Sendable (URLSessionTask, Data) -> Void)?
    let streaming: (@Sendable () -> InputStream?)?
    /// What is done when the session asks for a body; nil answers with `streaming`.
    let asking: (@Sendable (@escaping @Sendable (InputStream?) -> Void) -> Void)?
    /// What is answered to a challenge; nil has the session decide.
    let challenging: Challenging?
    typealias Challenging =
        @Sendable (URLAuthenticationChallenge) -> (URLSession.AuthChallengeDisposition, URLCredential?)

    init(
        redirecting: (@Sendable (URLSessionTask, URLRequest, @escaping @Sendable (URLRequest?) -> Void) -> Void)? = nil,
        disposing: (@Sendable (URLSessionTask, @escaping @Sendable (URLSession.ResponseDisposition) -> Void) -> Void)? =
            nil,
        receiving: (@Sendable (URLSessionTask, Data) -> Void)? = nil, streaming: (@Sendable () -> InputStream?)? = nil,
        asking: (@Sendable (@escaping @Sendable (InputStream?) -> Void) -> Void)? = nil,
        challenging: Challenging? = nil
    ) {
        (self.redirecting, self.disposing, self.receiving) = (redirecting, disposing, receiving)
        (self.streaming, self.asking) = (streaming, asking)
        self.challenging = challenging
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        let (disposition, credential) = challenging?(challenge) ?? (.performDefaultHandling, nil)
        completionHandler(disposition, credential)
    }

    var calls: [Call] { notes.withLock { $0.calls } }
    var body: Data { notes.withLock { $0.body } }
    var heads: [CurlResponseHead] { notes.withLock { $0.heads } }

    /// Returns when so many tasks have ended.
    func waitForEnds(_ count: Int = 1) async {
        await withCheckedContinuation { continuation in
            let isOver = notes.withLock { notes in
                if notes.ends < count { notes.waiting.append((count, continuation)) }
                return notes.ends >= count
            }
            if isOver { continuation.resume() }
        }
    }

    func waitForInvalidation() async {
        await withCheckedContinuation { continuation in
            let isOver = notes.withLock { notes in
                let isOver = notes.calls.contains(.invalid)
                if !isOver { notes.onInvalid = continuation }
                return isOver
            }
            if isOver { continuation.resume() }
        }
    }

    func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {
        let waiting = notes.withLock { notes in
            notes.calls.append(.invalid)
            return notes.onInvalid
        }
        waiting?.resume()
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive head: CurlResponseHead,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        notes.withLock {
            $0.calls.append(.head(head.status)); $0.heads.append(head)
        }
        if let disposing { disposing(dataTask, completionHandler) } else { completionHandler(.allow) }
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        notes.withLock { $0.body += data }
        receiving?(dataTask, data)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        notes.withLock { $0.calls.append(.sent(totalBytesSent)) }
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
        notes.withLock { $0.calls.append(.needsBody) }
        if let asking { asking(completionHandler) } else { completionHandler(streaming?()) }
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        notes.withLock { $0.calls.append(.redirect(response.statusCode, request.url?.path)) }
        if let redirecting { redirecting(task, request, completionHandler) } else { completionHandler(request) }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        let ready = notes.withLock { notes in
            notes.calls.append(.end((error as? URLError)?.code, Reason(description: error?.localizedDescription ?? "")))
            notes.ends += 1
            let ready = notes.waiting.filter { $0.ends <= notes.ends }
            notes.waiting.removeAll { $0.ends <= notes.ends }
            return ready
        }
        for (_, continuation) in ready { continuation.resume() }
    }
}
