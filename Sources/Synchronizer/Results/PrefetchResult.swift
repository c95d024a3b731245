import Foundation

/// How each resource of a prefetch ended: see ``PrefetchTask/result``.
public struct PrefetchResult: Sendable {
    /// How a resource ended.
    public enum Outcome: Sendable {
        /// It was loaded from the server, or the server confirmed the stored response.
        case loaded
        /// It was in memory, or a stored response answered without the server. For the destination
        /// ``Synchronizer/PrefetchDestination/disk`` only a stored response counts.
        case alreadyCached
        /// It was loaded, but a load would ask the server again: its response was not stored, and its object is not in memory, or
        /// the destination was ``Synchronizer/PrefetchDestination/disk``.
        case notStored(ResponseStoring.Reason)
        /// The load failed, after its retries: with a ``SynchronizerError``, or the error of a hook.
        case failed(any Error)
        /// The prefetch was cancelled before the resource had finished.
        case cancelled
        /// Its request is never coalesced, so no later load could use the prefetched response.
        case skipped
    }

    /// A resource that could not be loaded.
    public struct Failure: Sendable {
        /// The position of the resource among those that were passed to the prefetch, from 0.
        public let index: Int
        /// Why the load failed: a ``SynchronizerError``, or the error of a hook.
        public let error: any Error
    }

    /// The outcome of each resource, in the order in which they were passed to the prefetch.
    public let outcomes: [Outcome]

    /// Creates a result, for tests.
    public init(outcomes: [Outcome]) {
        self.outcomes = outcomes
    }

    /// How many were loaded from the server, or confirmed by it.
    public var loaded: Int { outcomes.count { if case .loaded = $0 { true } else { false } } }

    /// How many were cached already.
    public var alreadyCached: Int { outcomes.count { if case .alreadyCached = $0 { true } else { false } } }

    /// How many were cancelled.
    public var cancelled: Int { outcomes.count { if case .cancelled = $0 { true } else { false } } }

    /// Whether every resource was cached when it had finished, so that loads need no network until its lifetime ends.
    public var isComplete: Bool { loaded + alreadyCached == outcomes.count }

    /// Those that failed, with their errors.
    public var failures: [Failure] {
        outcomes.enumerated().compactMap { index, outcome in
            if case .failed(let error) = outcome { Failure(index: index, error: error) } else { nil }
        }
    }
}

/// The progress of a prefetch: see ``PrefetchTask/progress``.
public struct PrefetchProgress: Hashable, Sendable {
    /// Resources that are loaded, were cached already, have failed, were cancelled, or were skipped.
    public internal(set) var finished: Int
    /// All resources of the prefetch.
    public let total: Int

    /// Creates a progress, for tests.
    public init(finished: Int, total: Int) {
        (self.finished, self.total) = (finished, total)
    }

    /// Whether all resources have finished.
    public var isFinished: Bool { finished == total }

    /// The fraction finished, from 0 to 1.
    public var fraction: Double { total > 0 ? Double(finished) / Double(total) : 1 }
}

/// How many prefetched resources were used and wasted since the synchronizer was created.
public struct PrefetchStatistics: Hashable, Sendable {
    /// Resources loaded by a prefetch.
    public var loaded = 0
    /// Prefetched resources that a load used later.
    public var used = 0
    /// Prefetched resources that no load used before their prefetch was cancelled, or before a thousand more were unused, too.
    public var wasted = 0
    /// Bytes of all prefetched bodies.
    public var bytes = 0
    /// Bytes of the bodies of wasted resources.
    public var wastedBytes = 0
}
