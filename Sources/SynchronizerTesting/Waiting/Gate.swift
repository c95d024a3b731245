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
        var waiting: [@Sendable () -> Void] = []
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
        waiting.forEach { $0() }
    }

    /// Lets through `count` arrivals: first those that have waited longest, then new ones.
    public func admit(_ count: Int = 1) {
        let admitted = state.update { state in
            let admitted = Array(state.waiting.prefix(count))
            state.waiting.removeFirst(admitted.count)
            state.admissions += count - admitted.count
            return admitted
        }
        admitted.forEach { $0() }
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
        if admits(orResume: { mayPass.update { $0 = true } }) { return }
        _ = try await mayPass.wait(for: "a gate to open") { $0 }
    }

    /// Whether a reply that has just reached the gate may go on. If not, `resume` is called when it may.
    func admits(orResume resume: @escaping @Sendable () -> Void) -> Bool {
        state.update { state in
            state.arrivals += 1
            if state.isOpen { return true }
            if state.admissions > 0 {
                state.admissions -= 1
                return true
            }
            state.waiting.append(resume)
            return false
        }
    }
}
