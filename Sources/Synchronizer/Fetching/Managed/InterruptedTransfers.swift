import Foundation
import HTTPCaching

/// The beginnings of interrupted transfers, kept in memory for the next attempt (RFC 9111 §3.3).
///
/// Each one appears as a stored part beside the entries of the store. So the rules request the rest with `Range` and
/// `If-Range`, combine the two if the strong validator is the same, and start over if it is not. Interrupted transfers never
/// reach the store itself.
final class InterruptedTransfers: Sendable {
    /// The beginning of one body. Its bytes stay here.
    struct Part: Sendable {
        let id: Int64
        let response: StoredResponse
        let bodySize: Int
    }

    private struct Kept {
        let part: Part
        let body: Data

        /// About the bytes that the beginning and its response take.
        var cost: Int { body.count + 1024 }
    }

    private struct State {
        var kept = LRUList<String, Kept>()
        var bytes = 0
        var lastID: Int64 = 0

        mutating func remove(_ url: String) {
            if let removed = kept.remove(url) { bytes -= removed.cost }
        }
    }

    /// The most bytes that are kept.
    private static let limit = 32 << 20
    private let state = Locked(State())

    func keep(_ response: StoredResponse, body: Data) {
        guard body.count <= Self.limit else { return }
        state.withLock { state in
            state.remove(response.url)
            state.lastID += 1
            let part = Part(id: state.lastID, response: response, bodySize: body.count)
            let kept = Kept(part: part, body: body)
            state.kept.insert(kept, for: response.url)
            state.bytes += kept.cost
            while state.bytes > Self.limit, let oldest = state.kept.leastRecentlyUsed { state.remove(oldest) }
        }
    }

    func part(for url: String) -> Part? { state.withLock { $0.kept[url]?.part } }

    /// The bytes of a part; nil if it was removed or replaced.
    func body(of part: Part) -> Data? {
        state.withLock { $0.kept[part.response.url].flatMap { $0.part.id == part.id ? $0.body : nil } }
    }

    func remove(_ part: Part) {
        state.withLock { state in
            if state.kept[part.response.url]?.part.id == part.id { state.remove(part.response.url) }
        }
    }

    func remove(_ url: String) { state.withLock { $0.remove(url) } }

    func removeAll() {
        state.withLock { state in
            state.kept = LRUList()
            state.bytes = 0
        }
    }
}
