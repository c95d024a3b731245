import Dispatch
import Synchronizer

/// The bytes that decodes under way take together, and the threads that wait for some.
final class DecodeBudget: Sendable {
    static let shared = DecodeBudget { ImageDecoding.memoryBudget }
    /// What previews hold while their images arrive, which can take long: beside the budget, so that no decode ever
    /// waits for somebody's network.
    static let previews = DecodeBudget { ImageDecoding.memoryBudget / 4 }
    /// What animations hold between their frames, as long as somebody has them.
    static let animations = DecodeBudget { ImageDecoding.memoryBudget / 4 }

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

    /// Takes that many bytes until the reservation is dropped; nil if somebody would have to wait for it.
    func reserve(_ bytes: Int) -> Reservation? {
        let capacity = capacity()
        return state.withLock { $0.queue.askOnce(bytes, of: capacity) }
            ? Reservation(budget: self, bytes: bytes) : nil
    }

    /// Bytes that are taken as long as it lives.
    final class Reservation: Sendable {
        private let budget: DecodeBudget
        private let bytes: Int

        fileprivate init(budget: DecodeBudget, bytes: Int) {
            self.budget = budget
            self.bytes = bytes
        }

        deinit {
            budget.release(bytes)
        }
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
