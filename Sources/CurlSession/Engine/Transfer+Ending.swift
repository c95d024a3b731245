import CCurl
import Foundation

/// How a transfer ends, and what that means for its task.
extension Transfer {
    /// The schemes that a proxy offers for a tunnel: libcurl's `CURLAUTH_…`. 0 once libcurl has ended the transfer.
    var tunnelSchemes: Int { easy.map { synchronizer_info_long($0, CURLINFO_PROXYAUTH_AVAIL) } ?? 0 }

    /// Call it when libcurl has ended the transfer. `error` is nil if the response is complete.
    /// - Parameter tunnelSchemes: The value of `tunnelSchemes` before that.
    func ended(_ error: URLError?, tunnelSchemes: Int) {
        if let error, error.code == .userAuthenticationRequired {
            task.transfer = nil
            let head = tunnelHead.challenges.map {
                CurlResponseHead(url: exchange.url, version: "HTTP/1.1", status: 407, fields: $0)
            }
            return task.received(TunnelRefusal(schemes: tunnelSchemes, head: head, error: error), of: exchange)
        }
        end = error.map(End.failed) ?? .complete
        finishIfDone()
    }

    /// Ends the transfer at once, with an error that does not come from libcurl.
    func fail(_ error: URLError) {
        pool.abort(self)
        if case .discarded = response { return }
        body.dropBacklog()
        (end, response) = (.failed(error), .delivered)
        finishIfDone()
    }

    /// Ends the task, if libcurl has ended the transfer and all bytes have been passed to the task.
    func finishIfDone() {
        guard easy == nil else { return }
        pump()
        flush()
        switch response {
        case .pending: return pool.startDecisionTimeout(task)
        case .discarded: return
        case .awaited, .begun, .delivered: break
        }
        if let failure { end = .failed(failure) }
        switch end {
        case .none: return
        case .failed(let error): task.end(error)
        case .complete:
            guard body.isEmpty else { return }
            do {
                try body.finish()
                task.end(nil)
            } catch {
                task.end(Self.meaning(of: error))
            }
        }
        end = .none
        task.transfer = nil
    }

    /// Call it when libcurl reads no more from the connection, whether or not it still sends. If the request's body stalled,
    /// libcurl would wait for its end forever. So once the response is complete, sending may continue only while it makes progress.
    func readingEnded(isSending: Bool) {
        guard parser.isComplete, !isPaused, isSending || sending == .paused else { return }
        becomeAnswered()
    }

    /// Notes if the whole response has arrived over HTTP/2, where libcurl goes on reading, because of the other streams. It may
    /// have taken the whole body of the request, and still wait for the server to take it.
    func noteAnswer() {
        if case .multiplexed = connection, body.hasArrived { becomeAnswered() }
    }

    private func becomeAnswered() {
        guard !isAnswered, !exchange.body.isEmpty else { return }
        isAnswered = true
        noteProgress()
        pool.reconsiderDeadline(of: self)
    }

    /// The error for a response that libcurl takes for complete, but that anyone on the way may have cut short (RFC 9112 §9.8):
    /// it ends with the connection, and the server has not said over TLS that it closes the connection. Nil for others.
    var truncation: URLError? {
        guard case .awaited = closure, exchange.method != "HEAD", body.endsWithConnection else { return nil }
        return URLError(.networkConnectionLost, because: "the connection ended without TLS's closure alert")
    }

    /// The error for libcurl's result; nil if the response is complete.
    func meaning(of code: CURLcode) -> URLError? {
        if let failure { return failure }
        if body.mustEndTransfer { return nil }
        guard code != CURLE_OK else {
            let isComplete = parser.isComplete && body.isWhole && (hasSentRequest || body.showsEnd)
            guard isComplete else { return .incompleteResponse }
            pool.noteEnd(of: self, isUncertain: isUncertain)
            return isUncertain ? URLError(.networkConnectionLost, because: "libcurl may have lost an error") : nil
        }
        if isOnlyCutShort(code) { return nil }
        return TransferFailure(
            code: code, verifyResult: easy.map(Self.verifyResult) ?? 0,
            message: String(cString: message), hasClientCertificate: pool.options.tls.hasCertificate,
            connectStatus: easy.map { synchronizer_info_long($0, CURLINFO_HTTP_CONNECTCODE) } ?? 0
        ).error
    }

    /// Whether libcurl failed only because the server did not want the rest of the request after its complete response.
    private func isOnlyCutShort(_ code: CURLcode) -> Bool {
        switch code {
        case CURLE_SEND_ERROR: body.hasArrived || isAnswered && body.isWhole
        // Without a message, the server has reset the stream without an error. It should do so only after a complete response
        // (RFC 9113 §8.1). But libcurl 7.88 does not deliver the bytes that arrive together with the reset.
        case CURLE_HTTP2_STREAM where !exchange.body.isEmpty:
            body.hasArrived || message.pointee == 0 && parser.isComplete && body.showsEnd
        default: false
        }
    }

    /// Whether HTTP/2 has taken the whole request. libcurl may stop sending after a response, whether or not it is complete.
    private var hasSentRequest: Bool {
        guard case .multiplexed = connection, !exchange.body.isEmpty, let easy else { return true }
        guard exchange.body.length >= 0 else { return sending == .ended }
        return synchronizer_info_offset(easy, CURLINFO_SIZE_UPLOAD_T) >= exchange.body.length
    }

    /// Why OpenSSL does not trust the server, or an HTTPS proxy; 0 if it trusts both.
    private static func verifyResult(_ easy: UnsafeMutableRawPointer) -> Int {
        let server = synchronizer_info_long(easy, CURLINFO_SSL_VERIFYRESULT)
        return server != 0 ? server : synchronizer_info_long(easy, CURLINFO_PROXY_SSL_VERIFYRESULT)
    }

    static func meaning(of error: ContentDecodingError) -> URLError {
        switch error {
        case .truncated: URLError(.networkConnectionLost, because: "the coded body is incomplete")
        case .corrupt: URLError(.cannotDecodeContentData, because: "the coded body is corrupt")
        case .excessive:
            URLError(.dataLengthExceedsMaximum, because: "the coded body is far larger than what it decodes to")
        }
    }
}
