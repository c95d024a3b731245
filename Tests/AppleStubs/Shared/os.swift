// What Synchronizer uses of the module `os`, with the signatures that it has there.

public struct OSSignpostID: Sendable {}

public final class OSSignpostIntervalState {}

public struct SignpostMetadata: ExpressibleByStringInterpolation {
    public init(stringLiteral value: String) {}
}

public struct OSSignposter: Sendable {
    public init(subsystem: String, category: String) {}
    public var isEnabled: Bool { false }
    public func makeSignpostID() -> OSSignpostID { OSSignpostID() }

    public func beginInterval(_ name: StaticString, id: OSSignpostID, _ message: SignpostMetadata)
        -> OSSignpostIntervalState
    {
        OSSignpostIntervalState()
    }

    public func endInterval(_ name: StaticString, _ state: OSSignpostIntervalState, _ message: SignpostMetadata) {}
    public func emitEvent(_ name: StaticString, id: OSSignpostID, _ message: SignpostMetadata) {}
}
