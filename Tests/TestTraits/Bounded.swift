import Foundation
import Testing

/// Runs only a few tests at once, each on a thread that no other test uses at that time.
///
/// Swift Testing starts all tests at once, on as many cooperative threads as there are processors. Hundreds of servers,
/// caches and child processes would exist at the same time, and a test that blocks its thread (it waits for a file, a
/// process or a semaphore) would keep all tasks of the process from running. Here a test may block.
public struct Bounded: SuiteTrait, TestTrait, TestScoping {
    public let isRecursive = true

    /// Set within a test: a test whose suite has the trait too would otherwise wait for a second thread.
    @TaskLocal private static var isInside = false

    public func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        guard !Self.isInside else { return try await function() }
        guard #available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *) else { return try await function() }
        let thread = await TestThreads.shared.take()
        RunningTests.shared.begin(test)
        defer {
            RunningTests.shared.end(test)
            TestThreads.shared.giveBack(thread)
        }
        try await Self.$isInside.withValue(true) {
            try await withTaskExecutorPreference(thread) { try await function() }
        }
    }
}

extension Trait where Self == Bounded {
    /// A few tests at once, each on a thread of its own.
    public static var bounded: Self { Self() }
}

/// The names of the tests that run now, in the file that `SYNCHRONIZER_RUNNING_TESTS` names: what hung, if a run does.
private final class RunningTests: @unchecked Sendable {  // `names` is touched under the lock only
    static let shared = RunningTests()

    private let file = ProcessInfo.processInfo.environment["SYNCHRONIZER_RUNNING_TESTS"]
    private let lock = NSLock()
    private var names: [String] = []

    func begin(_ test: Test) { update { $0.append(test.displayName ?? test.name) } }

    func end(_ test: Test) {
        update { names in
            names.firstIndex(of: test.displayName ?? test.name).map { _ = names.remove(at: $0) }
        }
    }

    private func update(_ change: (inout [String]) -> Void) {
        guard let file else { return }
        lock.withLock {
            change(&names)
            try? Data(names.map { $0 + "\n" }.joined().utf8).write(to: URL(fileURLWithPath: file))
        }
    }
}
