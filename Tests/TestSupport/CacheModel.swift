import Foundation
import HTTPCaching

/// What a cache without limits would hold: the rules of `Change`, written down once more as plainly as can be.
package struct CacheModel: Sendable {
    package struct Stored: Equatable, Sendable {
        var response: StoredResponse
        var body: Data
        var storedAt: Date
        var isMemoryOnly: Bool
    }

    /// Newest first.
    private(set) var stored: [String: [Stored]] = [:]

    mutating func store(_ response: StoredResponse, _ body: Data, at time: Date, isMemoryOnly: Bool) {
        var list = stored[response.url] ?? []
        list.removeAll {
            $0.response.selectingFields == response.selectingFields && $0.response.method == response.method
        }
        list.insert(Stored(response: response, body: body, storedAt: time, isMemoryOnly: isMemoryOnly), at: 0)
        stored[response.url] = list
    }

    mutating func update(_ old: StoredResponse, to new: StoredResponse, at time: Date) {
        var list = stored[old.url] ?? []
        guard let index = list.firstIndex(where: { $0.response == old }) else { return }
        var changed = list.remove(at: index)
        (changed.response, changed.storedAt) = (new, time)
        list.removeAll { $0.response.selectingFields == new.selectingFields && $0.response.method == new.method }
        stored[old.url] = [changed] + list
    }

    mutating func remove(_ response: StoredResponse) {
        stored[response.url]?.removeAll { $0.response == response }
    }

    mutating func removeAll(of url: String) { stored[url] = nil }
    mutating func removeAll() { stored = [:] }
    mutating func removeAll(since date: Date) {
        for url in stored.keys { stored[url]?.removeAll { $0.storedAt >= date } }
    }

    /// What is left when the process has ended.
    mutating func forgetMemory() {
        for url in stored.keys { stored[url]?.removeAll { $0.isMemoryOnly } }
    }
}
