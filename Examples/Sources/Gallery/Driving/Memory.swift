import Foundation

/// The memory of this process.
enum Memory {
    /// The current bytes.
    static var now: Int { status("VmRSS:") }
    /// The peak, in bytes.
    static var peak: Int { status("VmHWM:") }

    private static func status(_ name: String) -> Int {
        let lines = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8))?.split(separator: "\n") ?? []
        let line = lines.first { $0.hasPrefix(name) }
        let kilobytes = line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) }
        return (kilobytes ?? 0) * 1_024
    }
}
