import CCurl
import Foundation

/// The thread that drives libcurl for all sessions of the process.
///
/// One thread is enough to saturate two cores of servers, and keeps thousands of sessions cheap: a session has a `CURLM`
/// (connections are not shared between sessions), and all of them wait in one `epoll`. No code of the app runs on this
/// thread, and nothing on it blocks: names are looked up on threads of `Resolver`, streams are read on queues of their own.
final class Engine: @unchecked Sendable {  // what is neither `let` nor Locked is touched by its own thread only
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
    private let epoll = Epoll()
    private let events = UnsafeMutableBufferPointer<epoll_event>.allocate(capacity: 256)
    /// What is known of a socket, by descriptor.
    private(set) var sockets = SocketTable()
    /// Pools whose multi handle has something to do or to report at the end of this turn.
    private var touched: [ConnectionPool] = []
    /// Pools that have a timer of libcurl's or a deadline of the session's.
    private var timed: [ObjectIdentifier: ConnectionPool] = [:]
    /// Decoders write here before their output is copied into a `Data`.
    let scratch = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)
    /// How often the thread has begun anew, because it was woken or had something to do.
    private(set) var turns = 0
    /// The time of `clock` when this turn began.
    private(set) var now: UInt64

    private static let current = Locked<Engine?>(nil)

    /// The engine of this process. A child of `fork` gets one of its own.
    static var shared: Engine {
        current.withLock { current in
            if let current, current.process == getpid() { return current }
            curl_global_init(Int(CURL_GLOBAL_ALL))
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

    /// Runs a command on the engine's thread, after those that were given before.
    func perform(_ command: @escaping @Sendable () -> Void) {
        let isSleeping = inbox.withLock { inbox in
            inbox.commands.append(command)
            defer { inbox.isSleeping = false }
            return inbox.isSleeping
        }
        if isSleeping { epoll.wakeUp() }
    }

    /// Ends the thread, for tests that have an engine of their own.
    func stop() {
        perform { [self] in inbox.withLock { $0.isStopped = true } }
    }

    // MARK: The engine's thread

    func touch(_ pool: ConnectionPool) {
        guard !pool.isTouched else { return }
        pool.isTouched = true
        touched.append(pool)
    }

    /// The pool's `timer` or `deadline` has changed.
    func timesChanged(_ pool: ConnectionPool) {
        let isTimed = pool.timer != .max || pool.deadline != .max
        guard isTimed != pool.isTimed else { return }
        pool.isTimed = isTimed
        timed[ObjectIdentifier(pool)] = isTimed ? pool : nil
    }

    func withSockets<Result>(_ body: (inout SocketTable, Epoll) -> Result) -> Result { body(&sockets, epoll) }

    private func run() {
        synchronizer_block_signals()
        while takeTurn() {}
    }

    /// - Returns: Whether there will be another one.
    private func takeTurn() -> Bool {
        turns += 1
        now = clock.now()
        for command in takeCommands() { command() }
        // A transfer that has just been added acts on a timer. No more than twice: libcurl may set it again without end.
        for _ in 0..<2 where !timed.isEmpty || !touched.isEmpty {
            runTimers()
            settle()
        }
        expireDeadlines()
        settle()
        guard !inbox.withLock({ $0.isStopped }) else { return false }
        handleEvents(epoll.wait(hasWork() ? 0 : timeToSleep(), into: events))
        return true
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
            guard let pool = sockets.pool(of: socket) else {
                epoll.watch(socket, from: Epoll.input, to: 0)
                continue
            }
            pool.handle(event.events, on: socket)
        }
        inbox.withLock { $0.isSleeping = false }
    }

    /// Has every pool that something happened to start and end what is due, and its delegate told.
    private func settle() {
        while !touched.isEmpty {
            let pools = touched
            touched = []
            for pool in pools {
                pool.isTouched = false
                pool.settle()
            }
        }
    }

    // MARK: Time

    private func runTimers() {
        guard !timed.isEmpty else { return }
        let now = monotonicNow()
        for pool in timed.values where pool.timer <= now { pool.timerFired() }
    }

    private func expireDeadlines() {
        for pool in timed.values where pool.deadline <= now { pool.deadlinePassed() }
    }

    /// Milliseconds, rounded up so that the thread does not wake early.
    private func timeToSleep() -> Int32 {
        guard !timed.isEmpty else { return -1 }
        let libcurlNow = monotonicNow()
        var sleep = UInt64.max
        for pool in timed.values {
            if pool.timer <= libcurlNow { return 0 }
            if pool.timer != .max { sleep = min(sleep, pool.timer - libcurlNow) }
            if pool.deadline != .max { sleep = min(sleep, pool.deadline - min(pool.deadline, now)) }
        }
        return sleep == .max ? -1 : Int32(clamping: sleep / 1_000_000 + 1)
    }
}
