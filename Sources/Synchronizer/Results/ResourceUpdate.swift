import Foundation

/// A step of ``Synchronizer/updates(of:priority:)``.
public struct ResourceUpdate<Object> {
    /// What a step brings.
    public enum Phase: Hashable, Sendable {
        /// The stored object, shown while the server is asked, though it may be stale; its age in seconds, if known.
        case stored(age: TimeInterval?)
        /// A part of what is arriving, such as a picture of fewer details: for images whose format allows it.
        case preview
        /// The object as it is now. The last step.
        case fresh
        /// The server says, or the bytes say, that the stored object is still right: it is the very same object, and
        /// has not been parsed again. The last step. Where ``ResourceUpdate/source`` is ``LoadSource/stale``, the server
        /// could not be asked, and the stored object may be used all the same.
        case unchanged
    }

    /// What this step brings.
    public let phase: Phase
    /// The object, with its response and its trace.
    public let loaded: Loaded<Object>

    /// The object, parsed.
    public var object: Object { loaded.object }
    /// Where it came from.
    public var source: LoadSource { loaded.source }
    /// How the load went so far.
    public var trace: LoadTrace { loaded.trace }

    init(phase: Phase, loaded: Loaded<Object>) {
        self.phase = phase
        self.loaded = loaded
    }
}

extension ResourceUpdate: Sendable where Object: Sendable {}
