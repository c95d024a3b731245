import Foundation
import Synchronizer

/// One thread that waits for sockets, timers and jobs from outside, and does one thing at a time.
///
/// Call everything on the loop's own thread, except `start`, `post`, `join` and `now`.
final class EventLoop: @unchecked Sendable {  // except `mailbox`, all state is touched on the loop's own thread only
    typealias Job = @Sendable () -> Void

    private struct Timer {
        let due: TimeInterval
        let id: Int
        let job: Job
    }

    private struct Mailbox {
        var jobs: [Job] = []
        var isClosed = false
    }

    private let mailbox = Locked(Mailbox())
    private let wakeUp: (reader: Int32, writer: Int32)
    private let finished = DispatchSemaphore(value: 0)
    private var thread: Thread?
    /// The loop's thread, once it runs.
    private var owner: pthread_t?

    private var poller = Poller()
    private var handlers: [Int32: (Poller.Event) -> Void] = [:]
    private var timers: [Timer] = []  // the earliest last
    private var nextTimer = 0
    private var runs = true

    init() throws {
        let (reader, writer) = try makePipe()
        wakeUp = (reader, writer)
    }

    /// Seconds on a clock that only goes forward.
    var now: TimeInterval { TimeInterval(DispatchTime.now().uptimeNanoseconds) / 1e9 }

    func start(named name: String) {
        let thread = Thread { [self] in
            run()
            finished.signal()
        }
        thread.name = name
        self.thread = thread
        thread.start()
    }

    /// Runs a job on the loop's thread, soon. Returns false if the loop has ended; then the job does not run.
    @discardableResult
    func post(_ job: @escaping Job) -> Bool {
        let wakes: Bool? = mailbox.withLock { mailbox in
            guard !mailbox.isClosed else { return nil }
            mailbox.jobs.append(job)
            if mailbox.jobs.count == 1 { signal() }
            return true
        }
        return wakes ?? false
    }

    /// Waits until the loop has ended. On the loop's own thread, it returns at once.
    func join() {
        guard Thread.current !== thread else { return }
        finished.wait()
        finished.signal()  // for the next thread that joins
    }

    /// Ends the loop, after it has run the jobs that have been posted.
    func end() {
        assertIsCurrent()
        runs = false
    }

    /// Stops the process if the loop runs on another thread than the caller's. Before the loop runs, any thread may set it up.
    func assertIsCurrent() {
        precondition(owner.map { pthread_equal($0, pthread_self()) != 0 } ?? true, "only for the loop's thread")
    }

    // MARK: Sockets

    func handle(_ descriptor: Int32, _ handler: @escaping (Poller.Event) -> Void) {
        assertIsCurrent()
        handlers[descriptor] = handler
    }

    func watch(_ descriptor: Int32, reading: Bool, writing: Bool) {
        assertIsCurrent()
        poller.watch(descriptor, reading: reading, writing: writing)
    }

    func forget(_ descriptor: Int32) {
        assertIsCurrent()
        poller.forget(descriptor)
        handlers[descriptor] = nil
    }

    // MARK: Timers

    func schedule(at due: TimeInterval, _ job: @escaping Job) {
        assertIsCurrent()
        nextTimer += 1
        let place = timers.firstIndex { $0.due <= due } ?? timers.endIndex
        timers.insert(Timer(due: due, id: nextTimer, job: job), at: place)
    }

    private func runDueTimers() {
        let now = now
        while let timer = timers.last, timer.due <= now {
            timers.removeLast()
            timer.job()
        }
    }

    private var patience: Int32 {
        guard let due = timers.last?.due else { return -1 }
        return Int32(min(60_000, max(0, ((due - now) * 1_000).rounded(.up))))
    }

    // MARK: The loop

    private func run() {
        owner = pthread_self()
        poller.watch(wakeUp.reader, reading: true, writing: false)
        handlers[wakeUp.reader] = { [unowned self] _ in drainMailbox() }
        while runs {
            for event in poller.wait(milliseconds: patience) { handlers[event.descriptor]?(event) }
            runDueTimers()
        }
        let left = mailbox.withLock { mailbox in
            mailbox.isClosed = true
            defer { mailbox.jobs = [] }
            return mailbox.jobs
        }
        left.forEach { $0() }
        handlers = [:]
        timers = []
        _ = systemClose(wakeUp.reader)
        _ = systemClose(wakeUp.writer)
    }

    private func drainMailbox() {
        var bytes = [UInt8](repeating: 0, count: 64)
        while read(wakeUp.reader, &bytes, bytes.count) > 0 {}
        let jobs = mailbox.withLock { mailbox in
            defer { mailbox.jobs = [] }
            return mailbox.jobs
        }
        jobs.forEach { $0() }
    }

    private func signal() {
        var byte: UInt8 = 1
        _ = write(wakeUp.writer, &byte, 1)
    }
}
