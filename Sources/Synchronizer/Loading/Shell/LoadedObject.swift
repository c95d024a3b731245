import Foundation
import HTTPCaching

/// How a load ended for its subscribers.
typealias LoadResult = Result<LoadedObject, SynchronizerError>

/// A parsed object and its metadata, as coalesced loads share it and the memory cache keeps it.
final class LoadedObject: Sendable {
    /// Identifies one run of a parse: objects of the same run are the same object.
    final class Run: Sendable {
        /// Whether a prefetch started it, so that its first use is counted.
        let isPrefetched: Bool

        init(isPrefetched: Bool = false) {
            self.isPrefetched = isPrefetched
        }
    }

    let object: any Sendable
    /// Its size in memory in bytes.
    let cost: Int
    let run: Run
    /// The checksum of the body that it was made from; nil for an object that a caller has inserted.
    let bodyChecksum: UInt64?
    let head: ResponseHead
    let freshUntil: Date
    /// See ``Fetched/isForThisLoadOnly``.
    let isForThisLoadOnly: Bool
    let trace: LoadTrace
    /// See ``Fetched/isBeingRevalidated``.
    let isBeingRevalidated: Bool
    /// See ``Fetched/order``.
    let order: ResponseOrder

    init(
        object: any Sendable, cost: Int, run: Run = Run(), bodyChecksum: UInt64?, head: ResponseHead, freshUntil: Date,
        isForThisLoadOnly: Bool = false, isBeingRevalidated: Bool = false, trace: LoadTrace,
        order: ResponseOrder = ResponseOrder()
    ) {
        self.object = object
        self.cost = cost
        self.run = run
        self.bodyChecksum = bodyChecksum
        self.head = head
        self.freshUntil = freshUntil
        self.isForThisLoadOnly = isForThisLoadOnly
        self.isBeingRevalidated = isBeingRevalidated
        self.trace = trace
        self.order = order
    }

    /// An object made from the body of a response.
    convenience init(object: any Sendable, cost: Int, run: Run, from fetched: Fetched, trace: LoadTrace) {
        self.init(
            object: object, cost: cost, run: run, bodyChecksum: fetched.bodyChecksum, head: fetched.response,
            freshUntil: fetched.freshUntil, isForThisLoadOnly: fetched.isForThisLoadOnly,
            isBeingRevalidated: fetched.isBeingRevalidated, trace: trace, order: fetched.order)
    }

    /// Whether its response is in the store. Such an object is kept even when it is stale: if the server confirms the response,
    /// the response is not parsed again.
    var isStored: Bool {
        switch trace.source {
        case .cache, .revalidated, .stale: true
        case .memory, .network, nil: false
        }
    }

    /// Whether memory may keep it at this time.
    func mayBeKept(at now: Date) -> Bool { !isForThisLoadOnly && (now < freshUntil || isStored) }

    /// The cache keys of the redirects through which the response came.
    var redirectKeys: [String] { trace.redirects.map { CacheRules.cacheKey(of: $0.absoluteString) } }

    /// Whether it may be shown, although it is stale, while the server validates it.
    var mayBeShownStale: Bool { CacheRules.mayBeShownBeforeValidation(head.fields, isFresh: false) }

    /// The same object, as the result of another fetch.
    func reused(for fetched: Fetched) -> LoadedObject {
        LoadedObject(
            object: object, cost: cost, run: run, bodyChecksum: bodyChecksum, head: fetched.response,
            freshUntil: fetched.freshUntil, isForThisLoadOnly: fetched.isForThisLoadOnly,
            isBeingRevalidated: fetched.isBeingRevalidated, trace: fetched.trace, order: fetched.order)
    }

    /// Whether the object was made from the same body, so that it is not parsed again. Equal validators do not prove that: two
    /// bodies may have the same `Last-Modified`, if there is no `Date` or both are within a second (RFC 9110 §8.8.2.2).
    func isMade(from fetched: Fetched) -> Bool { bodyChecksum == fetched.bodyChecksum }

    /// The source of a load that this object answers from memory.
    ///
    /// - Parameter isOffline: evaluated only for a stale object, because it takes a lock.
    func sourceFromMemory(at now: Date, isOffline: @autoclosure () -> Bool) -> LoadSource {
        now >= freshUntil && isOffline() ? .stale : .memory
    }

    /// The trace of a load that this object answers from memory. The age of the response is its lifetime minus the time left.
    func traceFromMemory(at now: Date, isOffline: @autoclosure () -> Bool) -> LoadTrace {
        var trace = LoadTrace()
        let source = sourceFromMemory(at: now, isOffline: isOffline())
        trace.source = source
        trace.reason =
            source == .stale
            ? "offline, an object of any age in memory is accepted" : "the parsed object was in memory"
        trace.lifetime = self.trace.lifetime
        trace.lifetimeRule = self.trace.lifetimeRule
        if let lifetime = trace.lifetime, freshUntil != .distantPast, freshUntil != .distantFuture {
            trace.age = max(0, lifetime - freshUntil.timeIntervalSince(now))
        }
        return trace
    }

    func fromMemory(at now: Date, isOffline: @autoclosure () -> Bool) -> LoadedObject {
        LoadedObject(
            object: object, cost: cost, run: run, bodyChecksum: bodyChecksum, head: head, freshUntil: freshUntil,
            trace: traceFromMemory(at: now, isOffline: isOffline()))
    }
}

extension Fetched {
    /// The checksum of the body. It is computed only if neither the file nor the store has it.
    var bodyChecksum: UInt64 { file?.checksum ?? storedChecksum ?? body.withUnsafeBytes { Checksum64.of($0) } }
}
