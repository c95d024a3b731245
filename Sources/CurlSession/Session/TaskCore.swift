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
/// All delegate calls go through a `Mailbox`. They are made in order, one at a time even on a concurrent queue.
final class TaskCore: TransferClient, @unchecked Sendable {  // `let`, Locked, or for the engine's thread only
    typealias Handler = @Sendable (Data?, URLResponse?, (any Error)?) -> Void

    /// The number of events that a task delivers before other tasks have their turn on the delegate's queue.
    private static let eventsPerTurn = 16

    struct State {
        var machine = TaskMachine()
        var mailbox = Mailbox()

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

        /// Keeps the task alive from now on. Without a delegate of its own, it gets the session's.
        mutating func begin(_ task: URLSessionDataTask) {
            self.task = task
            if delegates == nil { delegates = session?.delegates ?? Delegates(nil) }  // an invalidated session has none
        }

        /// The next event for the delegate. Completes the task, with its error, just before its end is delivered.
        mutating func next() -> TaskEvent? {
            let event = mailbox.next()
            guard case .end(let failure)? = event else { return event }
            guard machine.complete() else { return nil }
            error = failure?.failing(at: currentRequest?.url ?? task?.originalRequest?.url)
            return .end(error)
        }
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
    /// Set when the task's first request is sent or queued, or when the delegate is asked for its body.
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
        // If the task was never resumed, the session would wait for its end.
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

    func hold(_ isHeld: Bool) {
        guard state.withLock({ $0.mailbox.hold(isHeld) }) else { return }
        pool.perform { [self] in transfer?.goOn() }
    }

    func cancel(_ task: URLSessionDataTask) {
        let (isCancelled, isToDrain) = state.withLock { state in
            guard state.machine.cancel() == .cancel else { return (false, false) }
            state.begin(task)
            return (true, state.mailbox.cancel())
        }
        guard isCancelled else { return }
        pool.perform { [self] in dropTransfer() }
        if isToDrain { pool.executor.drain([self]) }
    }

    private func start() {
        guard isAccepted, pool.isAlive else { return fail(URLError(.cancelled)) }
        let body = uploadBody ?? RequestBody(of: originalRequest)
        if case .asked = body {
            // First, because the delegate may decide at once.
            pool.perform { [self] in pool.startDecisionTimeout(self) }
            if post(.needsBodyStream) { pool.executor.drain([self]) }
            return
        }
        switch exchange(for: originalRequest, body: body) {
        case .success(let exchange):
            pool.performNow { [self] in pool.start(self, with: exchange) }
        case .failure(let error): fail(error)
        }
    }

    func exchange(for request: URLRequest, body: RequestBody) -> Result<Exchange, URLError> {
        guard request.cachePolicy != .returnCacheDataDontLoad else {
            let reason = "the request may only be answered from a cache, and the session has none"
            return .failure(URLError(.resourceUnavailable, because: reason))
        }
        var additional: [String: String] = [:]
        additional[FieldName.authorization] = authentication.answer
        if let cookies = pool.options.cookies.header(for: request) { additional[FieldName.cookie] = cookies }
        let proxy = request.url.flatMap(pool.options.proxies.proxy(for:))
        let known = proxy.flatMap { authentication.proxies[$0.url] }
        let answer = proxy.flatMap { proxy in known?.answer ?? pool.proxyAnswers.withLock { $0[proxy.url] } }
        return Result { () throws(URLError) in
            let body = try body.opened()
            state.withLock { $0.expectedToSend = max(0, body.length) }
            let exchange = try Exchange(
                request, body: body, idleLimit: pool.options.idleLimit(of: request),
                proxy: known?.credential.map { proxy?.with($0, schemes: $1) } ?? proxy, proxyAnswer: answer,
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
        state.withLock { $0.mailbox.post(event) }
    }

    /// Delivers what is in the mailbox, on the delegate's queue.
    @inline(never)
    func drain() {
        guard let listener else { return }
        for _ in 0..<Self.eventsPerTurn {
            let (event, timesDecision) = state.withLock { ($0.next(), $0.mailbox.startTimingDecision()) }
            if timesDecision { pool.perform { [self] in pool.startDecisionTimeout(self) } }
            guard let event else { return }
            perform(event, for: listener)
        }
        pool.executor.drain([self])
    }

    /// Notes that the delegate has decided. Only the first call for a decision counts.
    /// - Returns: Whether this call is the first one.
    func decided(_ decision: Int) -> Bool {
        guard let (mustDrain, wasTimed) = state.withLock({ $0.mailbox.decided(decision) }) else { return false }
        if wasTimed { pool.perform { [self] in pool.stopDecisionTimeout(self) } }
        if mustDrain { pool.executor.drain([self]) }
        return true
    }

    // MARK: The engine's thread

    var isOver: Bool { state.withLock { $0.mailbox.isOver } }
    var canTimeOut: Bool { state.withLock { $0.mailbox.canTimeOut } }
    var undelivered: Int { state.withLock { $0.mailbox.undelivered } }
    var priority: Float { state.withLock { $0.priority } }

    func deliver(_ event: TaskEvent) {
        if post(event) { pool.deliver(self) }
    }

    func deliver(_ head: CurlResponseHead) { deliver(.head(head)) }
    func deliver(_ data: Data) { deliver(.data(data)) }

    func checkRoom() -> Bool { state.withLock { $0.mailbox.checkRoom() } }

    func end(_ error: URLError?) {
        pool.stopDecisionTimeout(self)
        deliver(.end(error))
        if state.withLock({ $0.mailbox.startTimingDecision() }) { pool.startDecisionTimeout(self) }
    }

    /// Ends the task because of the limit for the whole of it.
    func timeOut() {
        dropTransfer()
        if state.withLock({ $0.mailbox.timeOut() }) { pool.deliver(self) }
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
