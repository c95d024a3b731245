public import Synchronizer
import Synchronization

/// Keeps the figures of what a synchronizer does. It hears of it on any thread.
public final class Listener: SynchronizerObserver {
    private let state = Mutex(Figures())

    public init() {}

    public func synchronizerDid(_ event: SynchronizerEvent) {
        state.withLock { $0.note(event) }
    }

    /// The figures now.
    public var figures: Figures { state.withLock { $0 } }
}
