import Dispatch
import Synchronizer

/// The bytes that decodes in flight take together, and the threads that wait for some.
package final class DecodeBudget: Sendable {
    package static let shared = DecodeBudget { ImageDecoding.memoryBudget }
    /// What previews hold while their images arrive. It is separate so that no decode ever waits for the network.
    package static let previews = DecodeBudget { ImageDecoding.memoryBudget / 4 }
    /// What animations hold between frames, for as long as they live.
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

    /// Runs `body` once `bytes` bytes are available, and gives them back afterwards. Blocks this thread until then. Throws
    /// `CancellationError` if the load that it works for is cancelled before.
    package func with<T>(_ bytes: Int, _ body: () throws -> T) throws -> T {
        try enter(bytes)
        defer { release(bytes) }
        return try body()
    }

    /// Takes `bytes` bytes until the reservation is released. Returns nil if that would have to wait.
    package func reserve(_ bytes: Int) -> Reservation? {
        let capacity = capacity()
        return state.withLock { $0.queue.askOnce(bytes, of: capacity) }
            ? Reservation(budget: self, bytes: bytes) : nil
    }

    /// Holds bytes for as long as it lives.
    package final class Reservation: Sendable {
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
        let capacity = capacity()
        let place = state.withLock { state -> (ticket: AdmissionQueue.Ticket, admission: DispatchSemaphore)? in
            guard case .waits(let ticket) = state.queue.ask(bytes, of: capacity) else { return nil }
            let admission = DispatchSemaphore(value: 0)
            state.waiting[ticket] = admission
            return (ticket, admission)
        }
        guard let (ticket, admission) = place else { return }
        // No callback reports a cancelled load, so this thread polls.
        while admission.wait(timeout: .now() + .milliseconds(4)) == .timedOut {
            if ParseCancellation.isCancelled, leave(ticket, bytes: bytes) { throw CancellationError() }
        }
    }

    /// Leaves the queue. Returns false if the ticket was admitted at that moment; the semaphore is signalled then.
    private func leave(_ ticket: AdmissionQueue.Ticket, bytes: Int) -> Bool {
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
