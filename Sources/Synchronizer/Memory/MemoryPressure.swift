import Foundation

/// Reports when the system is short of memory. Each platform has a file that detects it.
package final class MemoryPressure: Sendable {
    /// Watches the system, from the first use on.
    package static let system: MemoryPressure = {
        let pressure = MemoryPressure()
        pressure.watchSystem()
        return pressure
    }()

    private struct State {
        var listeners: [Int: @Sendable () -> Void] = [:]
        var lastID = 0
    }

    private let state = Locked(State())

    package init() {}

    /// Calls the action on a background thread each time that memory is short, until you call the returned closure.
    package func listen(_ action: @escaping @Sendable () -> Void) -> CancelLoading {
        let id = state.withLock { state in
            state.lastID += 1
            state.listeners[state.lastID] = action
            return state.lastID
        }
        return { [state] in state.withLock { $0.listeners[id] = nil } }
    }

    /// Reports that memory is short.
    package func report() {
        let listeners = state.withLock { Array($0.listeners.values) }
        listeners.forEach { $0() }
    }
}
