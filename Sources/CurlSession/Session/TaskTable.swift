import FoundationNetworking

/// The tasks of a session, and whether the session is valid. Pure.
struct TaskTable {
    /// What happens to the tasks of an invalid session, Foundation's included.
    enum Invalidation {
        case finishTasks
        case cancelTasks
    }

    private enum Phase {
        case valid
        /// No new task may run.
        case invalid(Invalidation)
        /// All tasks have ended.
        case finished
    }

    private struct NewTask {
        weak var task: URLSessionDataTask?
    }

    /// The session's delegate; nil once the session is finished.
    private(set) var delegates: Delegates?
    private(set) var running: [ObjectIdentifier: TaskCore] = [:]
    /// Tasks that have not been resumed.
    private var new: [ObjectIdentifier: NewTask] = [:]
    /// The number of tasks that have been counted and have not ended.
    private var outstanding = 0
    /// Foundation's session numbers its own tasks from 1.
    private var nextIdentifier = 1 << 32
    private var phase = Phase.valid

    init(delegates: Delegates?) {
        self.delegates = delegates
    }

    var newTasks: [URLSessionDataTask] { new.values.compactMap(\.task) }

    /// Counts a new task.
    /// - Returns: The task's identifier, and whether the task may run.
    mutating func count() -> (identifier: Int, isAccepted: Bool) {
        outstanding += 1
        defer { nextIdentifier += 1 }
        return (nextIdentifier, isAccepted: isValid)
    }

    private var isValid: Bool { if case .valid = phase { true } else { false } }

    mutating func created(_ task: URLSessionDataTask, with core: TaskCore) {
        new[ObjectIdentifier(core)] = NewTask(task: task)
    }

    /// Call it when a task is resumed. Another thread may have cancelled the task, which may have ended.
    mutating func started(_ core: TaskCore) {
        guard new.removeValue(forKey: ObjectIdentifier(core)) != nil else { return }
        running[ObjectIdentifier(core)] = core
    }

    /// - Returns: How to invalidate Foundation's session. Nil unless this was the last task of an invalid session.
    mutating func ended(_ core: TaskCore) -> Invalidation? {
        new[ObjectIdentifier(core)] = nil
        running[ObjectIdentifier(core)] = nil
        return uncount()
    }

    /// Undoes `count`.
    /// - Returns: As `ended`.
    mutating func uncount() -> Invalidation? {
        outstanding -= 1
        return finishIfDone()
    }

    /// Makes the session invalid. A session whose tasks are to be cancelled stays one.
    mutating func invalidate(_ invalidation: Invalidation) {
        switch (phase, invalidation) {
        case (.valid, _), (.invalid, .cancelTasks): phase = .invalid(invalidation)
        case (.invalid, .finishTasks), (.finished, _): break
        }
    }

    /// Finishes an invalid session without tasks.
    /// - Returns: How to invalidate Foundation's session. Nil unless this call has finished the session.
    mutating func finishIfDone() -> Invalidation? {
        guard case .invalid(let invalidation) = phase, outstanding == 0 else { return nil }
        (phase, delegates) = (.finished, nil)
        return invalidation
    }
}
