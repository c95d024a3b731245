import CCurl
import Foundation
import SynchronizerSupport

/// The thread that drives libcurl for all sessions of the process.
///
/// One thread is enough to saturate two cores of servers, and keeps thousands of sessions cheap: each session has a `CURLM`, behind
/// an `EventHandler` (sessions do not share connections), and the sockets of all sessions are in one `epoll`. No code of the app
/// runs on this thread, and nothing on it blocks: `Resolver` looks names up on threads of its own, and each stream is read on its
/// own queue.
///
/// The thread runs a loop. While it sleeps between two iterations, a thread that has a request to send may run an iteration in its
/// place: the request is sent before another thread would have woken. "The engine's thread" is whichever thread runs an
/// iteration.
final class Engine: @unchecked Sendable {  // its variables without a lock are touched during iterations only
    private struct Inbox {
        var commands: [@Sendable () -> Void] = []
        /// The thread is in `epoll_wait`, or is about to be, and has seen no command.
        var isSleeping = false
        var isStopped = false
    }

    let clock: EngineClock
    let resolver: Resolver
    /// The process that has the thread; a child of `fork` does not.
    let process = getpid()
    private let inbox = Locked(Inbox())
    private let iteration = IterationLock()
    private let epoll = Epoll()
    private let events = UnsafeMutableBufferPointer<epoll_event>.allocate(capacity: 256)
    /// The state of each socket, by descriptor.
    private(set) var sockets = SocketTable()
    /// The handlers that have something to do or to report at the end of this iteration.
    private var touched: [any EventHandler] = []
    /// The handlers whose timer or deadline is set.
    private var timed: [ObjectIdentifier: any EventHandler] = [:]
    /// Decoders write here before their output is copied into a `Data`.
    let scratch = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)
    /// The number of iterations that the engine's own thread has begun.
    private(set) var iterations = 0
    /// The time of `clock` when this iteration began, or when the thread woke to handle events.
    private(set) var now: UInt64
    /// When the thread wakes if nothing happens, by `monotonicNow`.
    private var wakesAt = UInt64.max
    /// A millisecond: the resolution with which `epoll` wakes the thread.
    private static let tick: UInt64 = 1_000_000

    private static let current = Locked<Engine?>(nil)

    /// The engine of this process. A child of `fork` gets one of its own.
    static var shared: Engine {
        current.withLock { current in
            if let current, current.process == getpid() { return current }
            synchronizer_curl_initialize()
            let engine = Engine(clock: .system)
            current = engine
            return engine
        }
    }

    init(clock: EngineClock, resolver: Resolver = Resolver()) {
        self.clock = clock
        self.resolver = resolver
        now = clock.now()
        let thread = Thread { [self] in run() }
        thread.name = "CurlSession"
        thread.stackSize = 1 << 20
        thread.start()
    }

    deinit {
        events.deallocate()
        scratch.deallocate()
        epoll.close()
    }

    // MARK: Any thread

    /// Runs a command on the engine's thread, after the commands that were passed earlier.
    func perform(_ command: @escaping @Sendable () -> Void) {
        let isSleeping = inbox.withLock { inbox in
            inbox.commands.append(command)
            defer { inbox.isSleeping = false }
            return inbox.isSleeping
        }
        if isSleeping { epoll.wakeUp() }
    }

    /// Like `perform`, but runs at once on the caller's thread if the engine's thread sleeps.
    ///
    /// On the main thread or queue, it does the same as `perform`: a request may need a new connection, for which libcurl reads
    /// certificates.
    func performNow(_ command: @escaping @Sendable () -> Void) {
        guard !MainQueue.mustNotBlock, iteration.tryBegin() else { return perform(command) }
        guard inbox.withLock({ $0.isSleeping && $0.commands.isEmpty }) else {
            iteration.end()
            return perform(command)
        }
        now = clock.now()
        command()
        work()
        let sleepsTooLong = nextMoment < wakesAt - min(wakesAt, Self.tick)
        iteration.end()
        if sleepsTooLong { perform {} }
    }

    /// Ends the thread, for tests that have an engine of their own.
    func stop() {
        perform { [self] in inbox.withLock { $0.isStopped = true } }
    }

    // MARK: The engine's thread

    /// Stops the process unless the caller runs an iteration.
    func assertIsCurrent() { iteration.assertHeld() }

    /// Makes the engine call the handler's `settle` at the end of this iteration.
    func touch(_ handler: any EventHandler) {
        assertIsCurrent()
        guard !handler.isTouched else { return }
        handler.isTouched = true
        touched.append(handler)
    }

    /// Call it when the handler's `timer` or `deadline` has changed.
    func timesChanged(_ handler: any EventHandler) {
        assertIsCurrent()
        let isTimed = handler.timer != .max || handler.deadline != .max
        guard isTimed != handler.isTimed else { return }
        handler.isTimed = isTimed
        timed[ObjectIdentifier(handler)] = isTimed ? handler : nil
    }

    func withSockets<Result>(_ body: (inout SocketTable, Epoll) -> Result) -> Result {
        assertIsCurrent()
        return body(&sockets, epoll)
    }

    private func run() {
        synchronizer_block_signals()
        iteration.begin()
        while runIteration() {}
        iteration.end()
    }

    /// - Returns: Whether there will be another iteration.
    private func runIteration() -> Bool {
        iterations += 1
        now = clock.now()
        let commands = takeCommands()
        // A command may cancel a transfer, on which the end of another one depends that is not settled yet.
        if !commands.isEmpty { settle() }
        for command in commands { command() }
        work()
        guard !inbox.withLock({ $0.isStopped }) else { return false }
        let patience = hasWork() ? 0 : timeToSleep()
        iteration.end()
        let range = epoll.wait(patience, into: events)
        iteration.begin()
        now = clock.now()
        handleEvents(range)
        return true
    }

    /// Runs the timers and deadlines that are due, and settles the touched handlers.
    private func work() {
        // libcurl starts a new transfer when its timer fires. The loop runs at most twice, because libcurl may set the timer again
        // and again.
        for _ in 0..<2 where !timed.isEmpty || !touched.isEmpty {
            runTimers()
            settle()
        }
        expireDeadlines()
        settle()
    }

    private func takeCommands() -> [@Sendable () -> Void] {
        inbox.withLock { inbox in
            defer { inbox.commands = [] }
            return inbox.commands
        }
    }

    private func hasWork() -> Bool {
        inbox.withLock { inbox in
            inbox.isSleeping = inbox.commands.isEmpty
            return !inbox.isSleeping
        }
    }

    private func handleEvents(_ range: Range<Int>) {
        for event in events[range] where !epoll.takeWakeUp(event) {
            let socket = event.data.fd
            guard let handler = sockets.handler(of: socket) else {
                epoll.watch(socket, from: Epoll.input, to: 0)
                continue
            }
            handler.handle(event.events, on: socket)
        }
        inbox.withLock { $0.isSleeping = false }
    }

    private func settle() {
        while !touched.isEmpty {
            let handlers = touched
            touched = []
            for handler in handlers {
                handler.isTouched = false
                handler.settle()
            }
        }
    }

    // MARK: Time

    private func runTimers() {
        guard !timed.isEmpty else { return }
        let now = monotonicNow()
        for handler in timed.values where handler.timer <= now { handler.timerFired() }
    }

    private func expireDeadlines() {
        for handler in timed.values where handler.deadline <= now { handler.deadlinePassed() }
    }

    /// How long to sleep, in milliseconds, rounded up so that the thread does not wake early. Negative means no limit.
    private func timeToSleep() -> Int32 {
        wakesAt = nextMoment
        guard wakesAt != .max else { return -1 }
        let current = monotonicNow()
        return wakesAt <= current ? 0 : Int32(clamping: (wakesAt - current) / Self.tick + 1)
    }

    /// When a timer fires or a deadline passes, by `monotonicNow`; `.max` without any.
    private var nextMoment: UInt64 {
        guard !timed.isEmpty else { return .max }
        let current = monotonicNow()
        return timed.values.reduce(.max) { moment, handler in
            let deadline = handler.deadline == .max ? .max : current + (handler.deadline - min(handler.deadline, now))
            return min(moment, handler.timer, deadline)
        }
    }
}
