import Foundation

/// Hears what loads do: for logs, for an inspector, for measuring. Set it in ``Synchronizer/Configuration/observer``.
public protocol SynchronizerObserver: Sendable {
    /// Something has happened. Called on any thread, on the way of a load: return quickly, and do not call back into
    /// the synchronizer from here.
    func synchronizerDid(_ event: SynchronizerEvent)
}

/// Something that happened to a load.
public struct SynchronizerEvent: Sendable {
    /// What happened.
    public enum Kind: Sendable {
        /// Somebody asked, and nobody had before: the load waits for its turn. Others may join it unheard.
        case queued
        /// The load looks into the cache. It begins again when it gave its turn to something visible, or is retried.
        case started
        /// The cache does not answer: the load waits for a turn on the network.
        case needsNetwork
        /// Its turn has come: the request is sent.
        case sent
        /// A redirect is followed.
        case redirected(to: URL)
        /// The head of a response has arrived from the network.
        case response(URLResponse)
        /// Bytes of a body have arrived from the network; how many.
        case data(Int)
        /// The answer did not need a body from the network: it came from memory, from the cache, or was confirmed.
        case cached(LoadSource)
        /// A response was stored, or a stored one updated, with so many bytes of body.
        case stored(Int)
        /// The body was parsed, in so many seconds.
        case parsed(TimeInterval)
        /// Those who waited for one parse have been answered with an object; how it went.
        case finished(LoadTrace)
        /// They have been answered with an error.
        case failed(SynchronizerError)
        /// The try failed; the next one begins after so many seconds.
        case retrying(SynchronizerError, after: TimeInterval)
        /// Everybody has left before there was an object: the load was given up, though its bytes may have arrived.
        case cancelled
    }

    /// Which load: a number of its own for each. Nil for an answer from memory, which needs no load.
    public let load: Int?
    /// What it loads.
    public let url: URL?
    /// What happened.
    public let kind: Kind
    /// When, by the synchronizer's clock.
    public let date: Date

    /// An event, for the tests of an observer.
    public init(load: Int?, url: URL?, kind: Kind, date: Date) {
        self.load = load
        self.url = url
        self.kind = kind
        self.date = date
    }
}
