import Foundation
import HTTPCaching

/// A parsed object with what is known of it, as loads share it and the memory keeps it.
final class LoadedObject: Sendable {
    /// Stands for one run of a parse: objects of the same run are the same object.
    final class Run: Sendable {
        /// Whether it was a prefetch that asked for it, so that its use is worth noting.
        let isPrefetched: Bool

        init(isPrefetched: Bool = false) {
            self.isPrefetched = isPrefetched
        }
    }

    let object: any Sendable
    /// Bytes that it takes in memory.
    let cost: Int
    let run: Run
    let head: ResponseHead
    let freshUntil: Date
    /// See ``Fetched/isForThisLoadOnly``.
    let isForThisLoadOnly: Bool
    let trace: LoadTrace

    init(
        object: any Sendable, cost: Int, run: Run = Run(), head: ResponseHead, freshUntil: Date,
        isForThisLoadOnly: Bool = false, trace: LoadTrace
    ) {
        self.object = object
        self.cost = cost
        self.run = run
        self.head = head
        self.freshUntil = freshUntil
        self.isForThisLoadOnly = isForThisLoadOnly
        self.trace = trace
    }

    /// Whether its response is in the store. Such an object is worth keeping after its freshness: when the server
    /// confirms the response, it need not be parsed again.
    var isStored: Bool {
        switch trace.source {
        case .cache, .revalidated, .stale: true
        case .memory, .network, nil: false
        }
    }

    /// Whether it may be shown, though it is stale, while the server is asked.
    var mayBeShownStale: Bool { CacheRules().mayBeShownMeanwhile(head.fields, isFresh: false) }

    /// The same object, as the answer to another fetch.
    func reused(for fetched: Fetched) -> LoadedObject {
        LoadedObject(
            object: object, cost: cost, run: run, head: fetched.response, freshUntil: fetched.freshUntil,
            isForThisLoadOnly: fetched.isForThisLoadOnly, trace: fetched.trace)
    }

    /// Whether this object was made from that response already, so that it need not be parsed again: its validators
    /// are the same (RFC 9110 §8.8), and the server has just confirmed them, or it is as old to the second, or it is
    /// stored and they are strong (§8.8.1).
    func isMade(from fetched: Fetched) -> Bool {
        func isSame(_ field: String) -> Bool { fetched.response.value(of: field) == head.value(of: field) }
        let isStrong = fetched.trace.source != .network && fetched.response.value(of: "ETag")?.first == "\""
        let isConfirmed = fetched.trace.source == .revalidated || isSame("Date") || isStrong
        let hasValidator = ["ETag", "Last-Modified"].contains { fetched.response.value(of: $0) != nil }
        return isConfirmed && hasValidator && isSame("ETag") && isSame("Last-Modified")
    }
}
