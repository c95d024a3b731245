// The part of swift-log that a sample uses, for Scripts/check-samples.

public struct Logger: Sendable {
    public struct Message: ExpressibleByStringInterpolation, Sendable {
        public init(stringLiteral value: String) {}
    }

    public struct MetadataValue: ExpressibleByStringInterpolation, Sendable {
        public init(stringLiteral value: String) {}
    }

    public init(label: String) {}
    public func debug(
        _ message: @autoclosure () -> Message, metadata: @autoclosure () -> [String: MetadataValue]? = nil
    ) {}
    public func notice(
        _ message: @autoclosure () -> Message, metadata: @autoclosure () -> [String: MetadataValue]? = nil
    ) {}
    public func warning(
        _ message: @autoclosure () -> Message, metadata: @autoclosure () -> [String: MetadataValue]? = nil
    ) {}
}
