import Foundation

/// The memory that processes use.
enum Usage {
    /// The most bytes that this one has had in memory, with its program and libraries.
    static var peak: Int { bytes("VmHWM", of: "self") }

    /// The bytes that a process has allocated and touched.
    static func anonymous(_ process: Int32) -> Int { bytes("RssAnon", of: "\(process)") }

    private static func bytes(_ name: String, of process: String) -> Int {
        guard let file = fopen("/proc/\(process)/status", "r") else { return 0 }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 256)
        while fgets(&line, Int32(line.count), file) != nil {
            guard strncmp(line, name, name.utf8.count) == 0, let colon = strchr(line, 58) else { continue }
            return atol(colon + 1) * 1024
        }
        return 0
    }
}
