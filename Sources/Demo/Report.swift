import Foundation

/// The figures of the passes.
struct Report: Codable, Sendable {
    /// The cost of one pass, as the server counted it.
    struct Pass: Codable, Sendable {
        var name: String
        /// The resources that were loaded, and those that failed or were cancelled.
        var loaded: Int
        var failed = 0
        var cancelled = 0
        var requests: Int
        var notModified: Int
        /// Bytes of bodies that the server sent.
        var bytes: Int
        var seconds: TimeInterval
    }

    var foundCache = false
    var items = 0
    var contactSheet: String?
    var passes: [Pass] = []

    func write(to file: URL) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        try (encoder.encode(self) + Data("\n".utf8)).write(to: file)
    }

    /// The results that were not as expected. If there are any, the demo fails.
    var brokenPromises: [String] {
        var broken: [String] = []
        for pass in passes where ["warm", "disk", "decoded", "offline"].contains(pass.name) && pass.requests > 0 {
            broken.append("the \(pass.name) pass made \(pass.requests) requests, and should make none")
        }
        for pass in passes where pass.name == "revalidated" && pass.notModified != pass.requests {
            broken.append("\(pass.requests - pass.notModified) revalidations were not answered with 304")
        }
        for pass in passes where pass.name != "scrolled" && pass.failed > 0 {
            broken.append("\(pass.failed) loads of the \(pass.name) pass failed")
        }
        return broken
    }
}

extension Report.Pass {
    static let heading = "  pass          loaded  requests   304   from the network      time"

    /// The line of the pass in the table.
    var line: String {
        let columns: [(String, Int)] = [
            ("\(loaded)", 8), ("\(requests)", 10), ("\(notModified)", 6), (Self.words(bytes: bytes), 19),
            (Self.words(seconds: seconds), 10),
        ]
        return columns.reduce("  " + name.padding(toLength: 12, withPad: " ", startingAt: 0)) { line, column in
            line + String(repeating: " ", count: max(1, column.1 - column.0.count)) + column.0
        }
    }

    static func words(bytes: Int) -> String {
        switch bytes {
        case ..<1_000: return "\(bytes) B"
        case ..<1_000_000: return String(format: "%.1f KB", Double(bytes) / 1e3)
        default: return String(format: "%.1f MB", Double(bytes) / 1e6)
        }
    }

    static func words(seconds: TimeInterval) -> String {
        seconds < 1 ? String(format: "%.1f ms", seconds * 1_000) : String(format: "%.2f s", seconds)
    }
}
