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
    /// Of the body that it was made from.
    let bodyDigest: UInt64
    let head: ResponseHead
    let freshUntil: Date
    /// See ``Fetched/isForThisLoadOnly``.
    let isForThisLoadOnly: Bool
    let trace: LoadTrace

    init(
        object: any Sendable, cost: Int, run: Run = Run(), bodyDigest: UInt64, head: ResponseHead, freshUntil: Date,
        isForThisLoadOnly: Bool = false, trace: LoadTrace
    ) {
        self.object = object
        self.cost = cost
        self.run = run
        self.bodyDigest = bodyDigest
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
            object: object, cost: cost, run: run, bodyDigest: bodyDigest, head: fetched.response,
            freshUntil: fetched.freshUntil, isForThisLoadOnly: fetched.isForThisLoadOnly, trace: fetched.trace)
    }

    /// Whether this object was made from that very body already, so that it need not be parsed again. Validators cannot
    /// tell: without a `Date`, or within a second of it, they may be the same for two bodies (RFC 9110 §8.8.2.2).
    func isMade(from fetched: Fetched) -> Bool { bodyDigest == fetched.bodyDigest }
}

extension Fetched {
    /// What tells its body from others; as quickly made as memory is read.
    var bodyDigest: UInt64 { body.withUnsafeBytes { Checksum64.of($0) } }
}
