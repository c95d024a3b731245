import Foundation

/// Holds replies until a test opens it. Once open, it stays open. You can use it from any thread.
///
/// ```swift
/// let gate = Gate()
/// server["/slow"] = Reply("late").waiting(for: gate, .beforeHead)
/// try await gate.waitForArrivals()      // the request has arrived, and the reply waits
/// gate.open()
/// ```
///
/// To set the pace of a reply, admit one arrival after the other (``admit(_:)``).
public final class Gate: Sendable {
    private struct State: Sendable {
        var isOpen = false
        var arrivals = 0
        /// The number of future arrivals that may pass.
        var admissions = 0
        var waiting: [Waiter] = []
        var lastID = 0
    }

    /// A reply that waits.
    private struct Waiter: Sendable {
        let id: Int
        let resume: @Sendable () -> Void
    }

    private let state = Observed(State())

    /// Creates a closed gate.
    public init() {}

    /// Whether the gate is open.
    public var isOpen: Bool { state.read { $0.isOpen } }

    /// The number of replies that have reached the gate, including those that were let through.
    public var arrivals: Int { state.read { $0.arrivals } }

    /// Lets through all waiting replies and all later ones. Calling it again does nothing.
    public func open() {
        let waiting = state.update { state in
            state.isOpen = true
            defer { state.waiting = [] }
            return state.waiting
        }
        waiting.forEach { $0.resume() }
    }

    /// Lets through `count` arrivals: first those that have waited longest, then new ones. A reply whose load has been cancelled
    /// waits no longer, so it uses up no admission. A count below one lets nothing through.
    public func admit(_ count: Int = 1) {
        guard count > 0 else { return }
        let admitted = state.update { state in
            let admitted = Array(state.waiting.prefix(count))
            state.waiting.removeFirst(admitted.count)
            let (admissions, isTooMany) = state.admissions.addingReportingOverflow(count - admitted.count)
            state.admissions = isTooMany ? .max : admissions
            return admitted
        }
        admitted.forEach { $0.resume() }
    }

    /// Returns once this many replies have reached the gate.
    public func waitForArrivals(_ count: Int = 1) async throws {
        _ = try await state.wait(for: "\(count) replies at a gate") { $0.arrivals >= count }
    }

    /// Arrives at the gate, and returns when this arrival may pass: for the handler of a ``StubServer``.
    ///
    /// - Throws: `CancellationError`, if the task is cancelled before.
    public func wait() async throws {
        let mayPass = Observed(false)
        guard let waiter = arrive(orResume: { mayPass.update { $0 = true } }) else { return }
        do {
            _ = try await mayPass.wait(for: "a gate to open") { $0 }
        } catch {
            if leave(waiter) { throw error }  // otherwise it was admitted just before the cancellation
        }
    }

    /// A reply has reached the gate. Returns nil if it may go on. If not, returns the ID under which it waits, and `resume` is called
    /// when it may go on.
    func arrive(orResume resume: @escaping @Sendable () -> Void) -> Int? {
        state.update { state in
            state.arrivals += 1
            if state.isOpen { return nil }
            if state.admissions > 0 {
                state.admissions -= 1
                return nil
            }
            state.lastID += 1
            state.waiting.append(Waiter(id: state.lastID, resume: resume))
            return state.lastID
        }
    }

    /// A reply waits no longer. Returns whether it was still waiting.
    @discardableResult
    func leave(_ waiter: Int) -> Bool {
        let left = state.update { state in
            state.waiting.firstIndex { $0.id == waiter }.map { state.waiting.remove(at: $0) }
        }
        return left != nil
    }
}
