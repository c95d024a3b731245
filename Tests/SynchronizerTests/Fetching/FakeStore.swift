import Foundation
import HTTPCaching
import Synchronizer

/// A store in memory that counts what it is asked.
final class FakeStore: ResponseStore {
    private struct State {
        var nextID: Int64 = 0
        var entries: [(entry: StoredEntry, body: Data?)] = []
        var lookups = 0
        var updates = 0
        var beforeChange: (@Sendable () -> Void)?
        var afterRemoval: (@Sendable () -> Void)?
        var duringRead: @Sendable () -> Void = {}
    }

    let invalidations = InvalidationLog()
    private let state = Locked(State())

    var lookups: Int { state.withLock { $0.lookups } }
    var updates: Int { state.withLock { $0.updates } }
    var all: [StoredResponse] { state.withLock { $0.entries.map(\.entry.response) } }
    var bodies: [String] { state.withLock { $0.entries.map { String(decoding: $0.body ?? Data(), as: UTF8.self) } } }

    /// Has something done before the next response is stored or updated.
    func beforeChange(_ change: @escaping @Sendable () -> Void) { state.withLock { $0.beforeChange = change } }

    /// Has something done after the next removal of a URL's entries.
    func afterRemoval(_ change: @escaping @Sendable () -> Void) { state.withLock { $0.afterRemoval = change } }

    /// Has something done whenever a body is read.
    func duringRead(_ action: @escaping @Sendable () -> Void) { state.withLock { $0.duringRead = action } }

    private func prepareChange() { state.withLock { $0.beforeChange.take() }?() }

    func loseBodies() {
        state.withLock { state in
            for index in state.entries.indices { state.entries[index].body = nil }
        }
    }

    func entries(for url: String) -> [StoredEntry] {
        state.withLock { state in
            state.lookups += 1
            return state.entries.map(\.entry).filter { $0.response.url == url }
        }
    }

    func body(of entry: StoredEntry) -> Data? {
        state.withLock { $0.duringRead }()
        return state.withLock { $0.entries.first { $0.entry.id == entry.id }?.body }
    }

    func store(_ response: StoredResponse, as cached: CachedURLResponse) -> Int64? {
        prepareChange()
        return state.withLock { state in
            state.entries.removeAll {
                let old = $0.entry.response
                return old.url == response.url && old.method == response.method
                    && old.selectingFields == response.selectingFields
            }
            state.nextID += 1
            let entry = StoredEntry(response: response, id: state.nextID, bodySize: cached.data.count)
            state.entries.insert((entry, cached.data), at: 0)
            return state.nextID
        }
    }

    func update(_ entry: StoredEntry, to response: StoredResponse) -> Bool {
        prepareChange()
        return state.withLock { state in
            state.updates += 1
            guard let index = state.entries.firstIndex(where: { $0.entry.id == entry.id }) else { return true }
            state.entries[index].entry = StoredEntry(response: response, id: entry.id, bodySize: entry.bodySize)
            return true
        }
    }

    func remove(_ entry: StoredEntry) {
        state.withLock { $0.entries.removeAll { $0.entry.id == entry.id } }
    }

    func removeEntries(for url: String) {
        state.withLock { $0.entries.removeAll { $0.entry.response.url == url } }
        state.withLock { $0.afterRemoval.take() }?()
    }

    func removeAll() {
        state.withLock { $0.entries = [] }
    }
}
