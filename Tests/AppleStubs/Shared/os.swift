// What Synchronizer uses of the module `os`, with the signatures that it has there.

/// Not on a Mac.
public func os_proc_available_memory() -> Int { 0 }

public struct OSSignpostID: Sendable {}

public final class OSSignpostIntervalState {}

public struct SignpostMetadata: ExpressibleByStringInterpolation {
    public init(stringLiteral value: String) {}
}

public enum OSLog {
    public struct Category: Sendable {
        public let rawValue: String
        public static let pointsOfInterest = Category(rawValue: "PointsOfInterest")
        public static let dynamicTracing = Category(rawValue: "DynamicTracing")
    }
}

/// As on Apple's systems, a category of dynamic tracing is enabled only while a tool records, which none does here. All other
/// categories are enabled: `check-apple` rejects them, because they would cost an app its speed.
public struct OSSignposter: Sendable {
    public let isEnabled: Bool

    @available(*, deprecated, message: "This category is always enabled.")
    public init(subsystem: String, category: String) { isEnabled = true }

    public init(subsystem: String, category: OSLog.Category) { isEnabled = category.rawValue != "DynamicTracing" }

    public func makeSignpostID() -> OSSignpostID { OSSignpostID() }

    public func beginInterval(_ name: StaticString, id: OSSignpostID, _ message: SignpostMetadata)
        -> OSSignpostIntervalState
    {
        OSSignpostIntervalState()
    }

    public func endInterval(_ name: StaticString, _ state: OSSignpostIntervalState, _ message: SignpostMetadata) {}
    public func emitEvent(_ name: StaticString, id: OSSignpostID, _ message: SignpostMetadata) {}
}
