import Foundation
import HTTPCaching

/// A response that a fetch can use: an entry of the store, or the kept beginning of an interrupted transfer.
enum CacheEntry: Sendable {
    case stored(StoredEntry)
    case interrupted(InterruptedTransfers.Part)
    /// The beginning of a body in a file.
    case partial(KeptPartial)

    enum ID: Hashable, Sendable {
        case stored(Int64)
        case interrupted(Int64)
        case partial(String)
    }

    var id: ID {
        switch self {
        case .stored(let entry): .stored(entry.id)
        case .interrupted(let part): .interrupted(part.id)
        case .partial(let kept): .partial(kept.id)
        }
    }

    /// The identifier of an entry of the store.
    var storedID: Int64? { if case .stored(let entry) = self { entry.id } else { nil } }

    /// The checksum of its whole body, if the store has it without reading the body.
    var storedChecksum: UInt64? { if case .stored(let entry) = self { entry.bodyChecksum } else { nil } }

    /// Whether the lookup got it from a level of the cache that several machines share.
    var isFromSharedLevel: Bool { if case .stored(let entry) = self { entry.isFromSharedLevel } else { false } }

    var response: StoredResponse {
        switch self {
        case .stored(let entry): entry.response
        case .interrupted(let part): part.response
        case .partial(let kept): kept.response
        }
    }

    var bodySize: Int {
        switch self {
        case .stored(let entry): entry.bodySize
        case .interrupted(let part): part.bodySize
        case .partial(let kept): kept.count
        }
    }

    var candidate: Candidate { Candidate(response, bodySize: bodySize) }

    var withoutBody: CacheEntry {
        if case .stored(let entry) = self { .stored(entry.withoutBody) } else { self }
    }
}
