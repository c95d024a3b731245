import Dispatch
import Synchronizer

/// The bytes that decodes under way take together, and the threads that wait for some.
final class DecodeBudget: Sendable {
    static let shared = DecodeBudget { ImageDecoding.memoryBudget }

    private struct State {
        var queue = AdmissionQueue()
        var waiting: [AdmissionQueue.Ticket: DispatchSemaphore] = [:]
    }

    private let state = Locked(State())
    private let capacity: @Sendable () -> Int

    init(capacity: @escaping @Sendable () -> Int) {
        self.capacity = capacity
    }

    /// The bytes in use now.
    var used: Int { state.withLock { $0.queue.used } }

    /// Runs `body` when there are that many bytes left for it, and gives them back after it. Blocks this thread until
    /// then; throws `CancellationError` if the load that it works for is cancelled meanwhile.
    func with<T>(_ bytes: Int, _ body: () throws -> T) throws -> T {
        try enter(bytes)
        defer { release(bytes) }
        return try body()
    }

    private func enter(_ bytes: Int) throws {
        let turn = DispatchSemaphore(value: 0)
        let capacity = capacity()
        let answer = state.withLock { state in
            let answer = state.queue.ask(bytes, of: capacity)
            if case .waits(let ticket) = answer { state.waiting[ticket] = turn }
            return answer
        }
        guard case .waits(let ticket) = answer else { return }
        // Nothing calls when a load is cancelled, so that it has to be asked.
        while turn.wait(timeout: .now() + .milliseconds(4)) == .timedOut {
            if ParseCancellation.isCancelled, leave(ticket, bytes) { throw CancellationError() }
        }
    }

    /// Gives up waiting; false if it was admitted at this very moment, and the semaphore says so.
    private func leave(_ ticket: AdmissionQueue.Ticket, _ bytes: Int) -> Bool {
        let capacity = capacity()
        let next = state.withLock { state -> [DispatchSemaphore]? in
            guard let admitted = state.queue.leave(ticket, of: capacity) else { return nil }
            state.waiting[ticket] = nil
            return admitted.compactMap { state.waiting.removeValue(forKey: $0) }
        }
        next?.forEach { $0.signal() }
        return next != nil
    }

    private func release(_ bytes: Int) {
        let capacity = capacity()
        let next = state.withLock { state in
            state.queue.release(bytes, of: capacity).compactMap { state.waiting.removeValue(forKey: $0) }
        }
        next.forEach { $0.signal() }
    }
}
