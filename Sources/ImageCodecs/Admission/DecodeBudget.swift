import Dispatch
import SynchronizerSupport

/// Limits the bytes that decodes in flight take together. A decode blocks its thread until its bytes are available.
package final class DecodeBudget: Sendable {
    package static let shared = DecodeBudget { ImageDecoding.memoryBudget }
    /// The budget of previews, which hold their bytes while their images arrive. It is separate so that no decode ever waits
    /// for the network.
    package static let previews = DecodeBudget { ImageDecoding.memoryBudget / 4 }
    /// The budget for the canvases that animations keep between frames.
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

    /// Blocks this thread until `bytes` bytes are available, runs `body`, and gives the bytes back. Throws
    /// `CancellationError` if the current load is cancelled while the thread waits.
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

    /// Holds bytes of a budget until it is deallocated.
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

    /// Removes a ticket from the queue. Returns false if the ticket has already been admitted; another thread then signals
    /// its semaphore.
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
