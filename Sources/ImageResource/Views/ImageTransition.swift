public import Foundation

/// How a view changes from its placeholder to a loaded image. An image that was in memory appears at once.
public enum ImageTransition: Hashable, Sendable {
    /// At once.
    case none
    /// The image fades in, for this many seconds.
    case fade(TimeInterval)

    /// The seconds that it takes; nil if it takes none.
    var duration: TimeInterval? {
        guard case .fade(let seconds) = self, seconds.isFinite, seconds > 0 else { return nil }
        return seconds
    }
}
