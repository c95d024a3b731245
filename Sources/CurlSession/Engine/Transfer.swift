import CCurl
import Foundation
import FoundationNetworking

/// One request on libcurl, and what has come of its response. For the engine's thread only.
///
/// What libcurl delivers goes to the task at once, unless it has to wait: for the delegate's decision about a redirect or a
/// challenge, for the content decoder, or for room with the delegate. It waits in `backlog`; when that is full, libcurl is
/// told to pause, and TCP makes the server wait.
final class Transfer {
    /// What happens to the response.
    private enum Verdict {
        /// The head has not ended.
        case unknown
        /// The delegate has not decided.
        case pending(CurlResponseHead)
        /// The response is delivered.
        case delivered
        /// The task goes on without it. A short rest of it is read, so that the connection can be used again.
        case discarded
    }

    private enum End {
        case none
        case complete
        case failed(URLError)
    }

    private static let largestBacklog = 64 << 10
    private static let largestEmptyCoding = 1 << 20
    /// Nanoseconds.
    private static let patienceForRest: UInt64 = 1_000_000_000

    let task: TaskCore
    let exchange: Exchange
    let pool: ConnectionPool
    /// Nil once libcurl is done with it.
    private(set) var easy: UnsafeMutableRawPointer?
    private var lines: UnsafeMutablePointer<curl_slist>?
    /// Where libcurl writes why it failed.
    let message = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))
    /// The socket that libcurl last waited for on its behalf.
    var socket: Int32 = -1
    /// Whether the handle has options that other transfers must not inherit.
    var needsFreshHandle = false
    var lookup = NameLookup()

    private var parser: HeadParser
    private var decoder: ContentDecoder?
    private var decoderMayHaveOutput = false
    private var backlog: [UInt8] = []
    private var discarded = 0
    private var verdict = Verdict.unknown
    private var end = End.none
    /// The schemes that a proxy offers for a tunnel: libcurl's `CURLAUTH_…`.
    private var refusedTunnel = 0
    /// Why a callback had libcurl give up.
    private var failure: URLError?
    private var isPaused = false
    private var isSendingPaused = false
    /// The response is complete, and the request's body is not.
    private(set) var isAnswered = false
    private var sent: Int64 = 0
    private var lastProgress: UInt64
    /// When the transfer has to have ended, whatever it waits for.
    private var lastMoment = UInt64.max
    /// Bytes of a coded body, before and after decoding.
    private var coded = 0
    private var decoded = 0

    init(task: TaskCore, exchange: Exchange, pool: ConnectionPool, easy: UnsafeMutableRawPointer) {
        self.task = task
        self.exchange = exchange
        self.pool = pool
        self.easy = easy
        parser = HeadParser(url: exchange.url)
        lastProgress = pool.engine.now
        message.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    }

    deinit {
        message.deallocate()
    }

    func configure() {
        guard let easy else { return }
        lines = pool.options.apply(exchange, to: easy, for: self)
    }

    /// The handle is no longer this transfer's.
    func detach() {
        if let easy {
            _ = synchronizer_setopt_pointer(easy, CURLOPT_ERRORBUFFER, nil)
            lookup.drop(easy, pool.engine.resolver)
        }
        easy = nil
        if let lines, lines != pool.options.plainLines { curl_slist_free_all(lines) }
        lines = nil
        if case .stream(let stream, _) = exchange.body { stream.close() }
    }

    // MARK: What libcurl delivers

    func receiveLine(_ line: UnsafeRawBufferPointer) -> Bool {
        do {
            guard case .final(let head) = try parser.append(line) else { return true }
            received(head)
            return failure == nil
        } catch {
            failure = URLError(error == .tooLarge ? .dataLengthExceedsMaximum : .badServerResponse)
            return false
        }
    }

    private func received(_ head: CurlResponseHead) {
        noteProgress()
        if head.version == "HTTP/2" || head.version == "HTTP/3" { pool.originMultiplexes(self) }
        decoder = ContentDecoder(head)
        collectMetrics(isFinal: false)
        abandonConnection(after: head)
        switch task.received(head, exchange) {
        case .deliver:
            verdict = .delivered
            hurry(head)
        case .wait: verdict = .pending(head)
        case .fail(let error): failure = error
        }
    }

    /// Squid refuses a request before it has read all of its body, and never reads the rest: the next request on the
    /// connection would wait in vain. Whether the rest was read cannot be told.
    private func abandonConnection(after head: CurlResponseHead) {
        guard let easy, !exchange.body.isEmpty, [401, 407, 413, 417].contains(head.status),
            head.version.hasPrefix("HTTP/1")
        else { return }
        needsFreshHandle = true
        _ = synchronizer_setopt_long(easy, CURLOPT_FORBID_REUSE, 1)
    }

    /// What libcurl is told about bytes that it has delivered.
    enum Reception {
        case taken
        /// libcurl keeps them, and delivers them again when it is told to go on.
        case pause
        case fail
    }

    func receive(_ bytes: UnsafeRawBufferPointer) -> Reception {
        if case .discarded = verdict { return discard(bytes.count) }
        noteProgress()
        pump()
        guard failure == nil else { return .fail }
        guard canTake else {
            isPaused = true
            return .pause
        }
        if decoder != nil, !mayTake(coded: bytes.count) {
            failure = URLError(.dataLengthExceedsMaximum)
        } else if case .delivered = verdict, decoder == nil {
            deliver(bytes)
        } else {
            backlog.append(contentsOf: bytes)
            pump()
        }
        return failure == nil ? .taken : .fail
    }

    /// Whether a coded body may be so long: bytes that decode to nothing, such as what follows the end of the coding, would
    /// escape every limit for decoded bytes.
    private func mayTake(coded count: Int) -> Bool {
        coded += count
        return coded - Self.largestEmptyCoding <= decoded * 64
    }

    private var canTake: Bool {
        if task.isSuspendedOnEngine { return false }
        if case .pending = verdict { return backlog.count < Self.largestBacklog }
        if case .discarded = verdict { return true }
        return backlog.isEmpty && !decoderMayHaveOutput && task.checkRoom()
    }

    /// Moves on what waits, as far as there is room.
    private func pump() {
        guard case .delivered = verdict, failure == nil else { return }
        guard let decoder else {
            guard !backlog.isEmpty else { return }
            backlog.withUnsafeBytes(deliver)
            return backlog.removeAll()
        }
        do {
            while task.checkRoom() {
                if !decoderMayHaveOutput {
                    guard !backlog.isEmpty else { return }
                    backlog.withUnsafeBytes { decoder.push($0) }
                    backlog.removeAll(keepingCapacity: false)
                }
                let count = try decoder.pull(into: pool.engine.scratch)
                decoderMayHaveOutput = count > 0
                decoded += count
                if count > 0 { deliver(UnsafeRawBufferPointer(rebasing: pool.engine.scratch[..<count])) }
            }
        } catch {
            failure = Self.meaning(of: error)
        }
    }

    private func deliver(_ bytes: UnsafeRawBufferPointer) {
        guard let base = bytes.baseAddress, !bytes.isEmpty else { return }
        task.deliver(.data(Data(bytes: base, count: bytes.count)), from: pool)
    }

    // MARK: What libcurl sends

    func send(into space: UnsafeMutableRawBufferPointer) -> Int {
        guard !task.isSuspendedOnEngine else { return pauseSending() }
        var count = 0
        switch exchange.body {
        case .none, .asked: break
        case .data(let data):
            count = min(space.count, data.count - Int(sent))
            let start = data.startIndex + Int(sent)
            space.copyBytes(from: data[start..<start + count])
        case .stream(let stream, _):
            let (task, pool) = (task, pool)
            switch stream.read(into: space, notify: { pool.perform { task.transfer?.goOn() } }) {
            case .bytes(let bytes): count = bytes
            case .notYet: return pauseSending()
            case .end: break
            case .failed:
                failure = URLError(.requestBodyStreamExhausted)
                return Int(CURL_READFUNC_ABORT)
            }
        }
        sent += Int64(count)
        noteProgress()
        if count > 0 { task.sent(count, total: sent, of: exchange.body.length, from: pool) }
        return count
    }

    private func pauseSending() -> Int {
        isSendingPaused = true
        return Int(CURL_READFUNC_PAUSE)
    }

    /// libcurl sends the body once more, because a connection that it had kept turned out to be dead.
    func rewind(to offset: Int64) -> Bool {
        guard case .data(let data) = exchange.body, (0...Int64(data.count)).contains(offset) else { return false }
        sent = offset
        return true
    }

    /// libcurl reads no more from the connection, whether or not it still sends. It would wait for the end of the request's body
    /// without end, if that stalls; so once the response is complete, sending may go on only while it makes progress.
    func readingEnded() {
        guard parser.isComplete, !isPaused, !isAnswered, !exchange.body.isEmpty else { return }
        isAnswered = true
        noteProgress()
        pool.reconsiderDeadline(of: self)
    }

    // MARK: The end

    /// libcurl is done: `error` is nil if the response is complete.
    func ended(_ error: URLError?) {
        if let error, error.code == .userAuthenticationRequired,
            task.answerRefusedTunnel(exchange, schemes: refusedTunnel)
        {
            task.transfer = nil
            return
        }
        end = error.map(End.failed) ?? .complete
        finishIfDone()
    }

    /// Ends the transfer at once, for a reason of the session's.
    func fail(_ error: URLError) {
        pool.abort(self)
        if case .discarded = verdict { return }
        (end, backlog, verdict) = (.failed(error), [], .delivered)
        finishIfDone()
    }

    private func finishIfDone() {
        pump()
        switch verdict {
        case .pending, .discarded: return
        case .unknown, .delivered: break
        }
        if let failure { end = .failed(failure) }
        switch end {
        case .none: return
        case .failed(let error): task.end(error, from: pool)
        case .complete:
            guard backlog.isEmpty, !decoderMayHaveOutput else { return }
            do {
                try decoder?.finish()
                task.end(nil, from: pool)
            } catch {
                task.end(Self.meaning(of: error), from: pool)
            }
        }
        end = .none
        task.transfer = nil
    }

    /// What libcurl's result means; nil if the response is complete.
    func meaning(of code: CURLcode) -> URLError? {
        if let failure { return failure }
        if let easy { refusedTunnel = synchronizer_info_long(easy, CURLINFO_PROXYAUTH_AVAIL) }
        guard code != CURLE_OK else { return parser.isComplete ? nil : URLError(.networkConnectionLost) }
        return TransferFailure(
            code: code, verifyResult: easy.map { synchronizer_info_long($0, CURLINFO_SSL_VERIFYRESULT) } ?? 0,
            message: String(cString: message), hasClientCertificate: pool.options.tls.hasCertificate,
            connectStatus: easy.map { synchronizer_info_long($0, CURLINFO_HTTP_CONNECTCODE) } ?? 0
        ).error
    }

    private static func meaning(of error: ContentDecodingError) -> URLError {
        URLError(error == .truncated ? .networkConnectionLost : .cannotDecodeContentData)
    }

    // MARK: Commands

    /// The response is the one to deliver, whatever it is.
    func deliverPending() {
        guard case .pending(let head) = verdict else { return }
        verdict = .delivered
        hurry(head)
        task.deliver(.head(head), from: pool)
        goOn()
    }

    /// The body of a redirect is of little use, so that it does not hold up the receiver.
    private func hurry(_ head: CurlResponseHead) {
        guard pool.options.hurriesRedirects, RedirectRules.request(after: URLRequest(url: exchange.url), head) != nil
        else { return }
        lastMoment = pool.engine.now + Self.patienceForRest
        pool.reconsiderDeadline(of: self)
    }

    /// The task follows a redirect.
    func discard() {
        guard easy != nil else { return }
        verdict = .discarded
        guard discard(backlog.count) == .taken else { return pool.abort(self) }
        backlog = []
        unpause()
        pool.reconsiderDeadline(of: self)
    }

    private func discard(_ count: Int) -> Reception {
        discarded += count
        return discarded <= Self.largestBacklog ? .taken : .fail
    }

    /// Something that made the transfer pause may have gone.
    func goOn() {
        guard !task.isSuspendedOnEngine else { return }
        pump()
        if let failure, easy != nil { return fail(failure) }
        finishIfDone()
        if canTake { unpause() }
    }

    private func unpause() {
        guard let easy, isPaused || isSendingPaused else { return }
        (isPaused, isSendingPaused) = (false, false)
        noteProgress()
        curl_easy_pause(easy, CURLPAUSE_CONT)
        pool.engine.touch(pool)
    }

    // MARK: Time

    func noteProgress() {
        lastProgress = pool.engine.now
    }

    /// When it will have timed out, unless something happens.
    var deadline: UInt64 {
        if case .discarded = verdict { return lastProgress + Self.patienceForRest }
        if isAnswered { return lastProgress + Self.patienceForRest }
        let idle = exchange.idleLimit.map { (isWaiting ? pool.engine.now : lastProgress) + $0 } ?? .max
        return min(idle, lastMoment, task.resourceDeadline)
    }

    /// It is not the server that is waited for.
    private var isWaiting: Bool {
        if case .pending = verdict { return true }
        return isPaused || isSendingPaused || task.isSuspendedOnEngine
    }

    func collectMetrics(isFinal: Bool) {
        guard let easy else { return }
        task.set(CurlTaskMetrics(easy, isFinal: isFinal, lookup: lookup.duration))
    }
}
