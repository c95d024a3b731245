import Foundation

extension Figures {
    /// A line of the inspector.
    public struct Row: Sendable, Hashable {
        public let group: String
        public let name: String
        public let value: String

        public init(group: String, name: String, value: String) {
            (self.group, self.name, self.value) = (group, name, value)
        }
    }

    /// The lines that the inspector shows, in order.
    public var rows: [Row] {
        [
            Row(group: "Loads", name: "In flight", value: "\(inFlight)"),
            Row(group: "Loads", name: "Queued", value: "\(waiting)"),
            Row(group: "Loads", name: "Started", value: "\(started)"),
            Row(group: "Loads", name: "Finished", value: "\(finished)"),
            Row(group: "Loads", name: "Cancelled", value: "\(cancelled)"),
            Row(group: "Loads", name: "Retried", value: "\(retried)"),
            Row(group: "Loads", name: "Failed", value: "\(failed)"),
            Row(group: "Responses", name: "From memory", value: "\(fromMemory)"),
            Row(group: "Responses", name: "From disk", value: "\(fromDisk)"),
            Row(group: "Responses", name: "Revalidated", value: "\(revalidated)"),
            Row(group: "Responses", name: "From network", value: "\(fromNetwork)"),
            Row(group: "Bytes", name: "Received", value: Self.words(bytes: networkBytes)),
            Row(group: "Bytes", name: "Saved", value: Self.words(bytes: savedBytes)),
            Row(group: "Bytes", name: "Wasted", value: Self.words(bytes: wastedBytes)),
        ]
    }

    /// “1.2 MB”.
    public static func words(bytes: Int) -> String {
        switch bytes {
        case ..<1_000: "\(bytes) B"
        case ..<1_000_000: String(format: "%.0f kB", Double(bytes) / 1e3)
        case ..<1_000_000_000: String(format: "%.1f MB", Double(bytes) / 1e6)
        default: String(format: "%.2f GB", Double(bytes) / 1e9)
        }
    }
}
