import Foundation
import HTTPCaching

/// A response that a fetch can use: an entry of the store, or the kept beginning of an interrupted transfer.
enum CacheEntry: Sendable {
    case stored(StoredEntry)
    case interrupted(InterruptedTransfers.Part)

    enum ID: Hashable, Sendable {
        case stored(Int64)
        case interrupted(Int64)
    }

    var id: ID {
        switch self {
        case .stored(let entry): .stored(entry.id)
        case .interrupted(let part): .interrupted(part.id)
        }
    }

    var response: StoredResponse {
        switch self {
        case .stored(let entry): entry.response
        case .interrupted(let part): part.response
        }
    }

    var bodySize: Int {
        switch self {
        case .stored(let entry): entry.bodySize
        case .interrupted(let part): part.bodySize
        }
    }

    var candidate: Candidate { Candidate(response, bodySize: bodySize) }

    var withoutBody: CacheEntry {
        if case .stored(let entry) = self { .stored(entry.withoutBody) } else { self }
    }
}
