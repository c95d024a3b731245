import FoundationNetworking

/// The state machine of a task: which action a call leads to in which state. Pure; `TaskCore` performs the actions.
struct TaskMachine: Equatable, Sendable {
    enum Action: Equatable, Sendable {
        case nothing
        /// The request is to be sent.
        case start
        /// Reading stops.
        case pause
        /// Reading goes on.
        case unpause
        /// The task drops the events that it has not delivered, and fails with `.cancelled`.
        case cancel
    }

    private(set) var state = URLSessionTask.State.suspended
    /// Whether the request has been handed to the engine.
    private var hasStarted = false
    /// Calls of `suspend` that no `resume` has undone. A new task counts as suspended once.
    private var suspensions = 1

    mutating func resume() -> Action {
        guard state == .suspended || state == .running, suspensions > 0 else { return .nothing }
        suspensions -= 1
        guard suspensions == 0 else { return .nothing }
        state = .running
        defer { hasStarted = true }
        return hasStarted ? .unpause : .start
    }

    mutating func suspend() -> Action {
        guard state == .suspended || state == .running else { return .nothing }
        suspensions += 1
        guard state == .running else { return .nothing }
        state = .suspended
        return .pause
    }

    /// Cancels a task whose end has not been delivered.
    mutating func cancel() -> Action {
        guard state == .suspended || state == .running else { return .nothing }
        state = .canceling
        return .cancel
    }

    /// Completes the task, just before its end is delivered. False if it was complete already.
    mutating func complete() -> Bool {
        guard state != .completed else { return false }
        state = .completed
        return true
    }
}
