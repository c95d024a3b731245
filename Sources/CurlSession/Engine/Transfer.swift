import CCurl
import Foundation
import FoundationNetworking

/// One request on libcurl, and its response. For the engine's thread only.
///
/// Bytes that libcurl delivers go to the task at once, unless they have to wait: for the delegate's decision about a redirect or a
/// challenge, for the content decoder, or for room in the task's mailbox. They wait in `body`. When `body` is full, libcurl
/// pauses, and TCP makes the server wait.
final class Transfer {
    /// The maximum number of bytes that wait for a decision, and of bytes that are discarded.
    static let maximumBacklog = 64 << 10
    /// Nanoseconds for the rest of an exchange once that rest is of little use.
    private static let patienceForRest: UInt64 = 1_000_000_000

    let task: any TransferClient
    let exchange: Exchange
    let pool: ConnectionPool
    /// The handle; nil once libcurl has ended the transfer.
    private(set) var easy: UnsafeMutableRawPointer?
    private var lines: UnsafeMutablePointer<curl_slist>?
    /// The field lines that only the proxy gets that is asked for a tunnel.
    private var tunnelLines: UnsafeMutablePointer<curl_slist>?
    /// See `TransferOptions`.
    let tunnelAuthorization: String?
    /// Where libcurl writes why it failed.
    let message = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))
    /// The socket on which libcurl last waited for this transfer; -1 if there is none. libcurl may have sent the request and read a
    /// part of the response without having to wait.
    var socket: Int32 = -1
    /// Whether the pool will flush the transfer at the end of the iteration.
    var isToFlush = false
    var lookup = NameLookup()
    var tunnelReads = TunnelReads()
    var tunnelHead = TunnelHead()
    /// The connections that libcurl had made for this transfer when it last began to send the request.
    var connectionsMade = 0
    /// Whether libcurl has sent the request by HTTP/2 or HTTP/3 on a connection that it had kept.
    var usedKeptConnection = false
    /// Whether the request is not sent because another transfer makes those on its connection wait.
    var isHeldBack = false
    /// Whether the request gets a new connection because a large response arrives on another one, or because it is sent again.
    var (avoidsLarge, needsNewConnection) = (false, false)
    /// Whether the request was sent again because its HTTP/2 connection ended.
    var isSentAgain = false
    /// The bytes of the body that libcurl has delivered over HTTP/2, and when a PING may be due.
    var (receivedOfBody, pingTime) = (0, UInt64.max)

    /// The metrics when the head had arrived.
    private var metrics: CurlTaskMetrics?
    var parser: HeadParser
    var body = IncomingBody()
    private var discarded = 0
    var connection = Connection.none
    /// The TLS library's object for the connection on which libcurl last began to send the request; nil without TLS. It must not be
    /// used, because libcurl may have freed it.
    var tls: UnsafeMutableRawPointer?
    var closure = Closure.unknown
    var sending = Sending.active
    /// The bytes of the body that libcurl has taken.
    var sent: Int64 = 0
    var response = Response.awaited
    /// libcurl has paused receiving.
    var isPaused = false
    /// The response is complete, but the request's body has not been sent completely.
    var isAnswered = false
    /// Nil unless a callback has aborted the transfer.
    var abort: Abort?
    var end = End.none
    private(set) var lastProgress: UInt64
    /// The time by which the body of a redirect must have arrived.
    private var bodyDeadline = UInt64.max

    init(task: any TransferClient, exchange: Exchange, pool: ConnectionPool, easy: UnsafeMutableRawPointer) {
        self.task = task
        self.exchange = exchange
        self.pool = pool
        self.easy = easy
        tunnelAuthorization = pool.options.tunnelAuthorization(of: exchange)
        parser = HeadParser(url: exchange.url)
        lastProgress = pool.engine.now
        message.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    }

    deinit {
        message.deallocate()
    }

    func configure() {
        guard let easy else { return }
        setRequest(on: easy)
        lines = pool.options.lines(for: exchange)
        _ = synchronizer_setopt_pointer(easy, CURLOPT_HTTPHEADER, lines)
        guard let tunnelAuthorization,
            let line = RequestLines.line(name: FieldName.proxyAuthorization, value: tunnelAuthorization)
        else { return }
        tunnelLines = RequestLines.list([line])
        _ = synchronizer_setopt_pointer(easy, CURLOPT_PROXYHEADER, tunnelLines)
    }

    /// Gives up the handle, and frees what belongs to it.
    func detach() {
        if let easy {
            _ = synchronizer_setopt_pointer(easy, CURLOPT_ERRORBUFFER, nil)
            lookup.drop(easy, from: pool.engine.resolver)
        }
        easy = nil
        if let lines, lines != pool.options.plainLines { curl_slist_free_all(lines) }
        curl_slist_free_all(tunnelLines)
        (lines, tunnelLines) = (nil, nil)
        if case .stream(let stream, _) = exchange.body { stream.close() }
    }

    /// The error for which a callback has aborted the transfer.
    var failure: URLError? { if case .failure(let error) = abort { error } else { nil } }

    // MARK: What libcurl delivers

    func receiveLine(_ line: UnsafeRawBufferPointer) -> Bool {
        if case .awaited = response {
            guard acceptFirstLine(line) else { return false }
            response = .begun
        }
        do {
            guard case .final(let head) = try parser.append(line) else { return true }
            received(head)
            return failure == nil
        } catch {
            abort = .failure(error.urlError)
            return false
        }
    }

    private func received(_ head: CurlResponseHead) {
        noteInput()
        guard checkVersion(of: head) else { return }
        body.begin(head, hasContent: exchange.method != "HEAD")
        noteAnswer()
        collectMetrics(isFinal: false)
        abandonConnection(after: head)
        switch task.received(head, of: exchange) {
        case .deliver:
            response = .delivered
            limitRedirectBody(of: head)
        case .wait: response = .pending(head)
        case .fail(let error): abort = .failure(error)
        }
    }

    /// The answer to libcurl about bytes that it has delivered.
    enum WriteResult {
        case taken
        /// libcurl keeps them, and delivers them again when it is resumed.
        case pause
        case fail
    }

    func receive(_ bytes: UnsafeRawBufferPointer) -> WriteResult {
        if case .discarded = response {
            guard countDiscarded(bytes.count) else { return .fail }
        } else {
            noteInput()
            pump()
            guard failure == nil else { return .fail }
            guard canTake || takeAhead() else { return failure == nil ? .pause : .fail }
        }
        body.arrived(bytes.count)
        considerPing(after: bytes.count)
        noteAnswer()
        if body.chunks == nil { take(bytes) } else { takeChunks(bytes) }
        return failure == nil && !body.mustEndTransfer ? .taken : .fail
    }

    private func take(_ content: UnsafeRawBufferPointer) {
        if case .discarded = response { return }
        if case .delivered = response, body.isDirect, canTake {
            gather { body, deliver in body.gather(content, deliver) }
        } else {
            body.append(content)
            pump()
        }
    }

    /// Takes bytes with the framing of chunks.
    private func takeChunks(_ bytes: UnsafeRawBufferPointer) {
        var rest = bytes[...]
        do throws(ChunkDecoder.Malformed) {
            while failure == nil, let part = try body.nextPart(&rest) {
                switch part {
                case .content(let content): take(content)
                case .trailerLine(let line): _ = line.withUnsafeBytes(receiveLine)
                }
            }
            if !rest.isEmpty { forbidReuse() }
        } catch {
            abort = .failure(URLError(.networkConnectionLost, because: "the chunks of the body are malformed"))
        }
    }

    /// Decodes and gathers the bytes that wait, as far as there is room.
    func pump() {
        guard case .delivered = response, failure == nil, !body.isEmpty, !task.isSuspendedOnEngine else { return }
        let task = task
        gather { body, deliver in
            do throws(ContentDecodingError) {
                try body.pump(pool.engine.scratch, whileRoom: task.checkRoom, deliver: deliver)
            } catch {
                abort = .failure(Self.meaning(of: error))
            }
        }
    }

    /// Lets the body gather bytes. Large pieces are delivered at once, and the rest at the end of the iteration.
    private func gather(_ change: (inout IncomingBody, (Data) -> Void) -> Void) {
        let (task, pool) = (task, pool)
        change(&body) { task.deliver($0) }
        guard !isToFlush else { return }
        isToFlush = true
        pool.flushLater(self)
    }

    /// Delivers what the body has gathered.
    func flush() {
        isToFlush = false
        let data = body.take()
        if !data.isEmpty { task.deliver(data) }
    }

    // MARK: Commands

    /// Delivers the response that waits for a decision.
    func deliverPending() {
        pool.engine.assertIsCurrent()
        guard case .pending(let head) = response else { return }
        response = .delivered
        limitRedirectBody(of: head)
        task.deliver(head)
        goOn()
    }

    /// Limits the time for the body of a redirect, which is of little use and must not delay the receiver.
    private func limitRedirectBody(of head: CurlResponseHead) {
        guard pool.options.limitsRedirectBodies, SessionRedirects.isRedirect(head.status),
            SessionRedirects.request(after: URLRequest(url: exchange.url), head: head) != nil
        else { return }
        bodyDeadline = pool.engine.now + Self.patienceForRest
        pool.reconsiderDeadline(of: self)
    }

    /// Discards the body, because the task sends another request.
    func discard() {
        pool.engine.assertIsCurrent()
        guard easy != nil else { return }
        response = .discarded
        // The server has responded, so it does not need the rest of the request's body.
        guard hasSentBody, countDiscarded(body.backlogCount) else { return pool.abort(self) }
        body.dropBacklog()
        unpause()
        pool.reconsiderDeadline(of: self)
    }

    /// Counts discarded bytes. Returns false once they are too many.
    private func countDiscarded(_ count: Int) -> Bool {
        discarded += count
        return discarded <= Self.maximumBacklog
    }

    // MARK: Time

    func noteProgress() {
        lastProgress = pool.engine.now
    }

    private func noteInput() {
        noteProgress()
        pool.noteInput(on: socket)
    }

    /// The time at which the transfer times out, unless it makes progress.
    var deadline: UInt64 {
        if case .discarded = response { return lastProgress + Self.patienceForRest }
        if isAnswered { return lastProgress + Self.patienceForRest }
        let idle = exchange.idleLimit.map { (isWaiting ? pool.engine.now : lastProgress) + $0 } ?? .max
        return min(idle, bodyDeadline, task.resourceDeadline)
    }

    /// Whether the transfer waits for something other than the server.
    private var isWaiting: Bool {
        if case .pending = response { return true }
        return isPaused || sending == .paused || task.isSuspendedOnEngine || !body.isEmpty
    }

    func collectMetrics(isFinal: Bool) {
        guard let easy else { return }
        let metrics = CurlTaskMetrics(easy, isFinal: isFinal, lookup: lookup.duration, before: metrics)
        if !isFinal { self.metrics = metrics }
        task.set(metrics)
    }
}
