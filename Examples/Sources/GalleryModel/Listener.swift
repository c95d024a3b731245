public import Synchronizer
import Synchronization

/// Collects the figures of a synchronizer. It receives events on any thread.
public final class Listener: SynchronizerObserver {
    private let state = Mutex(Figures())

    public init() {}

    public func synchronizerDid(_ event: SynchronizerEvent) {
        state.withLock { $0.note(event) }
    }

    /// The current figures.
    public var figures: Figures { state.withLock { $0 } }
}
