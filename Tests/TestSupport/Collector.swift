import Synchronizer

/// What happens on any thread, collected; a test waits until there is enough of it.
public final class Collector<Element: Sendable>: Sendable {
    private struct State {
        var elements: [Element] = []
        var waiting: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let state = Locked(State())

    public init() {}

    public var elements: [Element] { state.withLock { $0.elements } }
    public var count: Int { state.withLock { $0.elements.count } }

    public func append(_ element: Element) {
        let ready = state.withLock { state in
            state.elements.append(element)
            let ready = state.waiting.filter { $0.count <= state.elements.count }
            state.waiting.removeAll { $0.count <= state.elements.count }
            return ready
        }
        ready.forEach { $0.continuation.resume() }
    }

    /// Returns once that many have been collected. Suites that wait have a time limit.
    @discardableResult
    public func wait(for count: Int) async -> [Element] {
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                if state.elements.count >= count { return true }
                state.waiting.append((count, continuation))
                return false
            }
            if isThere { continuation.resume() }
        }
        return elements
    }
}
