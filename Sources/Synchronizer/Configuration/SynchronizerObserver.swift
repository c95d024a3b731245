import Foundation

/// Receives the events of loads, for logs, an inspector, or measurements. Set it in ``Synchronizer/Configuration/observer``.
public protocol SynchronizerObserver: Sendable {
    /// Called for each event, on any thread, while the load waits: return quickly, and do not call the synchronizer from here.
    func synchronizerDid(_ event: SynchronizerEvent)
}

/// An event of a load.
public struct SynchronizerEvent: Sendable {
    /// The kind of an event.
    public enum Kind: Sendable {
        /// A new load waits for its cache lookup. Later loads may coalesce with it without an event.
        case queued
        /// The load looks into the cache. It does so again after it gave its slot to a visible load, and before a retry.
        case started
        /// The cache does not answer: the load waits for a network slot.
        case needsNetwork
        /// Another process requests the same response: the load waits for it, without a slot. Then it starts again
        /// (``started``).
        case waitingForAnotherProcess
        /// The load has a network slot: the request is sent.
        case sent
        /// A redirect is followed.
        case redirected(to: URL)
        /// The head of a response has arrived from the network, and its body follows. In managed mode the status is 200–299: there
        /// is no such event for another status (``failed(_:)`` has the response), for a 304 (``cached(_:)``), or for the rest of a
        /// body whose beginning had arrived before.
        case response(URLResponse)
        /// This many bytes of a body arrived from the network.
        case data(Int)
        /// The load needed no body from the network: memory or the cache answered, or the server confirmed the entry.
        case cached(LoadSource)
        /// A response with this many bytes of body was stored or updated.
        case stored(Int)
        /// A response from the network, which may be a redirect, was not stored.
        case notStored(ResponseStoring.Reason)
        /// The body was parsed, in this many seconds.
        case parsed(TimeInterval)
        /// The subscribers of one parse got an object.
        case finished(LoadTrace)
        /// The subscribers of one parse got an error. After an error of a hook there is no load.
        case failed(SynchronizerError)
        /// The server refused the credentials, the network is constrained, or nothing is stored and the network must not be used.
        /// This load ends. Its subscribers load again with another request: that of ``Synchronizer/Configuration/authenticate``, or
        /// the one for the other version of the resource (``Resource/lowDataURL``).
        case refused(SynchronizerError)
        /// The attempt failed; the next one begins after this many seconds.
        case retrying(SynchronizerError, after: TimeInterval)
        /// All subscribers cancelled before there was an object, though its bytes may have arrived.
        case cancelled
    }

    /// The number of the load. Nil for a memory hit, which needs no load, and for an error of a hook.
    public let load: Int?
    /// The URL of the load.
    public let url: URL?
    /// The kind of the event.
    public let kind: Kind
    /// The time by the synchronizer's clock.
    public let date: Date

    /// Creates an event, for tests of an observer.
    public init(load: Int?, url: URL?, kind: Kind, date: Date) {
        self.load = load
        self.url = url
        self.kind = kind
        self.date = date
    }
}
