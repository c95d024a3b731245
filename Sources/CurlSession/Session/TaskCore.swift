import Foundation
import FoundationNetworking
import SynchronizerSupport

/// The session of a task, as the task sees it.
protocol TaskOwner: URLSession {
    var pool: ConnectionPool { get }
    /// The session's delegate; nil once the session is invalid and its tasks have ended.
    var delegates: Delegates? { get }
    /// Counts a new task.
    /// - Returns: The task's identifier, and whether the task may run.
    func addTask() -> (identifier: Int, isAccepted: Bool)
    /// Call it when a task is resumed. Another thread may have cancelled the task, which may have ended.
    func taskStarted(_ task: TaskCore)
    /// Call it when a task has ended, or is dropped without having been resumed.
    func taskEnded(_ task: TaskCore)
}

/// A task's state, which the callers' threads, the delegate's queue and the engine's thread share.
///
/// All delegate calls go through a mailbox. It delivers them in order, one at a time even on a concurrent queue. It delivers
/// nothing after the end, and nothing while it waits for the delegate to call a completion handler.
final class TaskCore: TransferClient, @unchecked Sendable {  // `let`, Locked, or for the engine's thread only
    typealias Handler = @Sendable (Data?, URLResponse?, (any Error)?) -> Void

    /// The number of undelivered bytes at which the transfer pauses.
    static let mailboxLimit = 256 << 10
    /// The number of undelivered events from which on pieces of the body are joined.
    static let mostSmallEvents = 64
    /// The number of events that a task delivers before other tasks have their turn on the delegate's queue.
    private static let eventsPerTurn = 16

    struct State {
        var machine = TaskMachine()
        var events: [TaskEvent] = []
        var nextEvent = 0
        /// A drain is running, or has been scheduled on the delegate's queue.
        var isScheduled = false
        /// The end is in the mailbox or has been delivered: nothing may follow.
        var isOver = false
        /// The task was cancelled or has timed out: it ends without asking the delegate for another decision.
        var isAborted = false
        /// The number of the delegate's decision that the mailbox waits for.
        var awaited: Int?
        /// The end waits in the mailbox for a decision, which the engine limits by the time for the whole task.
        var isDecisionTimed = false
        var decisions = 0
        /// Bytes of events that have not been delivered.
        var undelivered = 0
        /// The transfer waits for room in the mailbox.
        var isStarved = false

        var session: (any TaskOwner)?
        /// Keeps the task alive while it runs.
        var task: URLSessionDataTask?
        var delegates: Delegates?
        var currentRequest: URLRequest?
        var head: CurlResponseHead?
        var response: URLResponse?
        var error: URLError?
        var metrics = CurlTaskMetrics()
        var bytesReceived: Int64 = 0
        var bytesSent: Int64 = 0
        var expectedToSend: Int64 = 0
        var priority = URLSessionTask.defaultPriority
        var progress: Progress?
        /// The body for the completion handler.
        var collected = Data()
    }

    let identifier: Int
    /// Whether the session was valid when the task was created.
    private let isAccepted: Bool
    let originalRequest: URLRequest
    let pool: ConnectionPool
    let handler: Handler?
    let state: Locked<State>
    /// The body of an upload task, which is not in the request.
    let uploadBody: RequestBody?

    // The engine's thread only:
    var transfer: Transfer?
    var isSuspendedOnEngine = false
    var redirects = 0
    var authentication = TaskAuthentication()
    /// Set when the task's first request is sent or queued.
    private(set) lazy var resourceDeadline =
        EngineClock.nanoseconds(pool.options.resourceLimit).map { pool.engine.now + $0 } ?? .max

    init(_ request: URLRequest, session: any TaskOwner, body: RequestBody? = nil, handler: Handler? = nil) {
        (identifier, isAccepted) = session.addTask()
        originalRequest = request
        pool = session.pool
        self.handler = handler
        uploadBody = body
        var state = State()
        state.session = session
        state.currentRequest = request
        self.state = Locked(state)
    }

    deinit {
        // The task was never resumed. Without this, the session would wait for it.
        state.withLock { $0.session }?.taskEnded(self)
    }

    // MARK: Callers' threads

    func resume(_ task: URLSessionDataTask) {
        let (action, session) = state.withLock { state in
            let action = state.machine.resume()
            if action == .start { state.begin(task) }
            return (action, state.session)
        }
        switch action {
        case .start:
            session?.taskStarted(self)
            start()
        case .unpause: pool.perform { [self] in setSuspended(false) }
        default: break
        }
    }

    func suspend() {
        guard state.withLock({ $0.machine.suspend() }) == .pause else { return }
        pool.perform { [self] in setSuspended(true) }
    }

    func cancel(_ task: URLSessionDataTask) {
        let (isCancelled, isToDrain) = state.withLock { state in
            guard state.machine.cancel() == .cancel else { return (false, false) }
            state.begin(task)
            return (true, state.cancel())
        }
        guard isCancelled else { return }
        pool.perform { [self] in dropTransfer() }
        if isToDrain { pool.executor.drain([self]) }
    }

    private func start() {
        guard isAccepted, pool.isAlive else { return fail(URLError(.cancelled)) }
        let body = uploadBody ?? RequestBody(of: originalRequest)
        if case .asked = body {
            if state.withLock({ $0.post(.needsBodyStream) }) { pool.executor.drain([self]) }
            return
        }
        switch exchange(for: originalRequest, body: body) {
        case .success(let exchange):
            pool.performNow { [self] in pool.start(self, with: exchange) }
        case .failure(let error): fail(error)
        }
    }

    func exchange(for request: URLRequest, body: RequestBody) -> Result<Exchange, URLError> {
        // The session has no cache.
        guard request.cachePolicy != .returnCacheDataDontLoad else { return .failure(URLError(.resourceUnavailable)) }
        var additional: [String: String] = [:]
        additional[FieldName.authorization] = authentication.answer
        if let cookies = pool.options.cookies.header(for: request) { additional[FieldName.cookie] = cookies }
        let proxy = request.url.flatMap(pool.options.proxies.proxy(for:))
        let known = proxy.flatMap { authentication.proxies[$0.url] }
        if let proxy {
            // `Exchange` leaves it out unless the proxy receives the request itself.
            additional[FieldName.proxyAuthorization] =
                known?.answer ?? pool.proxyAnswers.withLock { $0[proxy.url] }
        }
        return Result { () throws(URLError) in
            let body = try body.opened()
            state.withLock { $0.expectedToSend = max(0, body.length) }
            let exchange = try Exchange(
                request, body: body, idleLimit: pool.options.idleLimit(of: request),
                proxy: known?.credential.map { proxy?.with($0, schemes: $1) } ?? proxy,
                additional: additional,
                isForeign: request.url.map(isForeign) ?? false)
            if let flaw = pool.options.flaw(in: exchange) { throw flaw }
            return exchange
        }
    }

    private func isForeign(_ url: URL) -> Bool {
        redirects > 0
            && URLReference.origin(of: url.absoluteString)
                != originalRequest.url.flatMap { URLReference.origin(of: $0.absoluteString) }
    }

    /// Ends the task without the engine.
    private func fail(_ error: URLError) {
        if post(.end(error)) { pool.executor.drain([self]) }
    }

    // MARK: Mailbox, any thread

    /// - Returns: Whether the caller must start a drain of the mailbox.
    private func post(_ event: TaskEvent) -> Bool {
        state.withLock { $0.post(event) }
    }

    /// Delivers what is in the mailbox, on the delegate's queue.
    @inline(never)
    func drain() {
        guard let listener else { return }
        for _ in 0..<Self.eventsPerTurn {
            let (event, timesDecision) = state.withLock { ($0.next(), $0.timesDecision()) }
            if timesDecision { pool.perform { [self] in pool.startDecisionTimeout(self) } }
            guard let event else { return }
            perform(event, for: listener)
        }
        pool.executor.drain([self])
    }

    /// Notes that the delegate has decided. Only the first call for a decision counts.
    /// - Returns: Whether this call is the first one.
    func decided(_ decision: Int) -> Bool {
        let (isFirst, isToDrain, wasTimed) = state.withLock { state in
            guard state.awaited == decision else { return (false, false, false) }
            state.awaited = nil
            defer { state.isDecisionTimed = false }
            return (true, state.schedule(), state.isDecisionTimed)
        }
        if wasTimed { pool.perform { [self] in pool.stopDecisionTimeout(self) } }
        if isToDrain { pool.executor.drain([self]) }
        return isFirst
    }

    // MARK: The engine's thread

    var isOver: Bool { state.withLock { $0.isOver } }
    var priority: Float { state.withLock { $0.priority } }
    /// The bytes that wait in the mailbox.
    var undelivered: Int { state.withLock { $0.undelivered } }

    func deliver(_ event: TaskEvent) {
        if post(event) { pool.deliver(self) }
    }

    func deliver(_ head: CurlResponseHead) { deliver(.head(head)) }
    func deliver(_ data: Data) { deliver(.data(data)) }

    /// Whether the mailbox has room. If not, it resumes the transfer as soon as it has. A task that is over takes nothing more.
    func checkRoom() -> Bool {
        state.withLock { state in
            let hasRoom = !state.isOver && state.undelivered < Self.mailboxLimit
            // A transfer that waits for room must hear of it, even if another transfer asks in the meantime.
            if !hasRoom { state.isStarved = true }
            return hasRoom
        }
    }

    func end(_ error: URLError?) {
        pool.stopDecisionTimeout(self)
        deliver(.end(error))
        if state.withLock({ $0.timesDecision() }) { pool.startDecisionTimeout(self) }
    }

    /// Whether the task can still time out.
    var canTimeOut: Bool { state.withLock { !$0.isOver || $0.isDecisionTimed } }

    /// Ends the task because of the limit for the whole of it.
    func timeOut() {
        dropTransfer()
        if state.withLock({ $0.timeOut() }) { pool.deliver(self) }
    }

    func set(_ metrics: CurlTaskMetrics) {
        state.withLock { state in
            let decoded = state.metrics.bytesDecoded
            state.metrics = metrics
            state.metrics.bytesDecoded = decoded
        }
    }

    func sent(_ count: Int, total: Int64, of expected: Int64) {
        state.withLock { $0.bytesSent = total }
        deliver(.sent(Int64(count), total: total, expected: expected))
    }

    private func setSuspended(_ isSuspended: Bool) {
        pool.engine.assertIsCurrent()
        isSuspendedOnEngine = isSuspended
        transfer?.noteProgress()
        if isSuspended { transfer?.failIfBlocking() } else { transfer?.goOn() }
    }

    func dropTransfer() {
        pool.engine.assertIsCurrent()
        pool.stopDecisionTimeout(self)
        guard let transfer else { return pool.withdraw(self) }
        self.transfer = nil
        pool.abort(transfer)
    }
}
