import Foundation

/// The threads that tests run on; a test that finds none waits for its turn.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
final class TestThreads: @unchecked Sendable {  // its state is touched under the lock only
    static let shared = TestThreads(count: min(8, ProcessInfo.processInfo.activeProcessorCount + 2))

    private let lock = NSLock()
    private var free: [TestThread]
    private var waiting: [CheckedContinuation<TestThread, Never>] = []  // the oldest last

    init(count: Int) {
        free = (1...count).map(TestThread.init)
    }

    func take() async -> TestThread {
        await withCheckedContinuation { continuation in
            let thread = lock.withLock {
                if free.isEmpty { waiting.insert(continuation, at: 0) }
                return free.popLast()
            }
            if let thread { continuation.resume(returning: thread) }
        }
    }

    func giveBack(_ thread: TestThread) {
        let next = lock.withLock {
            if waiting.isEmpty { free.append(thread) }
            return waiting.popLast()
        }
        next?.resume(returning: thread)
    }
}

/// A thread that runs the jobs of tasks, one after the other.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
final class TestThread: TaskExecutor, @unchecked Sendable {  // `jobs` is touched under the condition's lock only
    /// For the tasks of one test that must not run on its own thread.
    static let aside = TestThread(0)

    private let condition = NSCondition()
    private var jobs: [UnownedJob] = []  // the oldest last

    init(_ number: Int) {
        let thread = Thread { [self] in
            while true { next().runSynchronously(on: asUnownedTaskExecutor()) }
        }
        thread.name = "Test \(number)"
        thread.start()
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        condition.withLock {
            jobs.insert(job, at: 0)
            condition.signal()
        }
    }

    private func next() -> UnownedJob {
        condition.withLock {
            while true {
                if let job = jobs.popLast() { return job }
                condition.wait()
            }
        }
    }
}

/// A task on a thread that it may block: on a cooperative thread it would keep others from running.
public func onThreadThatMayBlock<Success: Sendable>(
    _ operation: @escaping @Sendable () async throws -> Success
) -> Task<Success, any Error> {
    guard #available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *) else {
        return Task.detached(operation: operation)
    }
    return Task.detached(executorPreference: TestThread.aside, operation: operation)
}
