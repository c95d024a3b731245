// The part of swift-metrics that a sample uses, for Scripts/check-samples.

public final class Counter: Sendable {
    public init(label: String, dimensions: [(String, String)] = []) {}
    public func increment<DataType: BinaryInteger>(by amount: DataType) {}
    public func increment() {}
}

public final class Recorder: Sendable {
    public init(label: String, dimensions: [(String, String)] = [], aggregate: Bool = true) {}
    public func record<DataType: BinaryFloatingPoint>(_ value: DataType) {}
}
