import Foundation

/// A step of ``Synchronizer/updates(of:priority:)``.
public struct ResourceUpdate<Object> {
    /// The kind of a step.
    public enum Phase: Hashable, Sendable {
        /// The stored object, shown while the server is asked, even if it is stale; with its age in seconds, if known.
        case stored(age: TimeInterval?)
        /// A preview of the arriving body, such as an image with less detail, if the image format allows it.
        case preview
        /// The current object. The last step.
        case fresh
        /// The stored object is still current: the server has confirmed it, or has sent the same bytes. It is the same object,
        /// not parsed again. The last step.
        case unchanged
        /// The stored object, which is stale and which no server has confirmed: loads are offline (``Synchronizer/isOffline``), or
        /// the server could not confirm it, but it may be used nevertheless. The last step.
        case stale

        /// Whether no step comes after this one.
        public var isLast: Bool {
            switch self {
            case .stored, .preview: false
            case .fresh, .unchanged, .stale: true
            }
        }
    }

    /// The kind of this step.
    public let phase: Phase
    /// The object, with its response and its trace.
    public let loaded: Loaded<Object>

    /// The object, parsed.
    public var object: Object { loaded.object }
    /// Where it came from.
    public var source: LoadSource { loaded.source }
    /// How the load went so far.
    public var trace: LoadTrace { loaded.trace }

    /// Creates a step, for tests.
    public init(phase: Phase, loaded: Loaded<Object>) {
        self.phase = phase
        self.loaded = loaded
    }
}

extension ResourceUpdate: Sendable where Object: Sendable {}
