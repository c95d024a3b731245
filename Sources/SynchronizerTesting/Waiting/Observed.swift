import Foundation
import Synchronizer

/// A value that tests can wait on: each change resumes the waiters whose condition has become true. Nothing polls.
package final class Observed<Value: Sendable>: Sendable {
    private struct Waiter {
        let what: String
        let condition: @Sendable (Value) -> Bool
        let continuation: CheckedContinuation<Value, any Error>
    }

    private struct State {
        var value: Value
        var waiters: [Int: Waiter] = [:]
        var nextID = 0
        var ended = false
    }

    private let state: Locked<State>

    package init(_ value: Value) {
        state = Locked(State(value: value))
    }

    package func read<Result>(_ body: (Value) -> Result) -> Result {
        state.withLock { body($0.value) }
    }

    package func update<Result>(_ change: (inout Value) -> Result) -> Result {
        let (result, ready, value) = state.withLock { state in
            let result = change(&state.value)
            guard !state.waiters.isEmpty else { return (result, [Waiter](), Value?.none) }
            let ready = state.waiters.filter { $0.value.condition(state.value) }
            ready.keys.forEach { state.waiters[$0] = nil }
            return (result, Array(ready.values), ready.isEmpty ? nil : state.value)
        }
        if let value { ready.forEach { $0.continuation.resume(returning: value) } }
        return result
    }

    /// Fails all waits whose condition does not hold yet, including waits that begin later.
    package func end() {
        let waiters = state.withLock { state in
            state.ended = true
            defer { state.waiters = [:] }
            return state.waiters
        }
        waiters.values.forEach { $0.continuation.resume(throwing: WaitError.stopped(before: $0.what)) }
    }

    /// Returns the value as soon as the condition holds. The condition runs under the lock, so it must only look at the value.
    /// There is no time limit, because a busy machine would exceed it. `Scripts/test` ends a run that hangs, and says what it was
    /// doing.
    package func wait(
        for what: String, until condition: @escaping @Sendable (Value) -> Bool
    ) async throws -> Value {
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation {
                add(Waiter(what: what, condition: condition, continuation: $0), id: id)
            }
        } onCancel: {
            cancel(id)
        }
    }

    private func add(_ waiter: Waiter, id: Int) {
        let outcome: Result<Value, any Error>? = state.withLock { state in
            if waiter.condition(state.value) { return .success(state.value) }
            if state.ended { return .failure(WaitError.stopped(before: waiter.what)) }
            if Task.isCancelled { return .failure(CancellationError()) }
            state.waiters[id] = waiter
            return nil
        }
        if let outcome { waiter.continuation.resume(with: outcome) }
    }

    private func cancel(_ id: Int) {
        let waiter = state.withLock { $0.waiters.removeValue(forKey: id) }
        waiter?.continuation.resume(throwing: CancellationError())
    }
}

/// Why a wait failed.
public enum WaitError: Error, CustomStringConvertible {
    /// The request has arrived, but the server does not keep it any more.
    case discarded(number: Int)
    /// The server was stopped before the event.
    case stopped(before: String)

    /// What went wrong.
    public var description: String {
        switch self {
        case .discarded(let number): return "request number \(number) is not kept any more"
        case .stopped(let what): return "the server was stopped before this happened: \(what)"
        }
    }
}
