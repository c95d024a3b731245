import Foundation

/// The memory, descriptors and threads of this process, as Linux reports them.
enum Memory {
    /// Bytes of memory in use.
    static var resident: Int { field("VmRSS:") }

    /// The most bytes of memory that were in use since ``resetPeak()``.
    static var peak: Int { field("VmHWM:") }

    /// Forgets the peak so far (proc(5), `clear_refs`).
    static func resetPeak() {
        guard let file = fopen("/proc/self/clear_refs", "w") else { fail("clear_refs: \(errno)") }
        fputs("5", file)
        fclose(file)
    }

    /// Open descriptors, each with what it leads to.
    static var descriptors: Set<String> {
        let directory = "/proc/self/fd"
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
        // The one of the directory itself is closed by now.
        let open = names.compactMap { name in
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "\(directory)/\(name)")).map { "\(name) \($0)" }
        }
        return Set(open)
    }

    /// Threads.
    static var threads: Int { field("Threads:") >> 10 }

    private static func field(_ name: String) -> Int {
        guard let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8) else { return 0 }
        let line = status.split(separator: "\n").first { $0.hasPrefix(name) }
        return (line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) } ?? 0) << 10
    }
}
