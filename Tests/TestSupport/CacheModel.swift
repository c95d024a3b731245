import Foundation
import HTTPCaching

/// What a cache without limits would hold: the rules of `Change`, written down once more as plainly as can be.
package struct CacheModel: Sendable {
    package struct Stored: Equatable, Sendable {
        var response: StoredResponse
        var body: Data
        var storedAt: Date
        var isMemoryOnly: Bool
        /// What was made from the body.
        var objects: [String: Object] = [:]
    }

    struct Object: Equatable, Sendable {
        var data: Data
        var storedAt: Date
    }

    /// The beginning of a body that has not arrived yet.
    struct Beginning: Sendable {
        let response: StoredResponse
        let whole: Data
        var count: Int
    }

    /// Newest first.
    private(set) var stored: [String: [Stored]] = [:]
    var beginnings: [String: Beginning] = [:]

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

    mutating func keep(_ object: Object, as name: String, of response: StoredResponse) {
        guard let index = stored[response.url]?.firstIndex(where: { $0.response == response }) else { return }
        stored[response.url]?[index].objects[name] = object
    }

    mutating func remove(_ response: StoredResponse) {
        stored[response.url]?.removeAll { $0.response == response }
    }

    mutating func removeAll(of url: String) { stored[url] = nil }
    mutating func removeAll() { (stored, beginnings) = ([:], [:]) }
    mutating func removeAll(since date: Date) {
        for (url, list) in stored {
            stored[url] = list.filter { $0.storedAt < date }.map { entry in
                var entry = entry
                entry.objects = entry.objects.filter { $0.value.storedAt < date }
                return entry
            }
        }
    }

    /// Removes the responses that are lost when the process ends.
    mutating func forgetMemory() {
        for url in stored.keys { stored[url]?.removeAll { $0.isMemoryOnly } }
    }
}
