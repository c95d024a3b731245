import Foundation
import Measuring

extension Peer {
    /// OkHttp's cache (Debian's `libokhttp-java`), full of entries: each pass gets all of them; an error says what is
    /// missing.
    static func okHttp(_ server: ServerProcess, entries: Int, in directory: String) throws -> Peer {
        let program = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../Peers/OkHttpCache.java").standardizedFileURL.path
        let libraries = ["okhttp", "okio"].map { "/usr/share/java/\($0).jar" }.joined(separator: ":")
        return try Peer(["/usr/bin/java", "-cp", libraries, program, server.origin, "\(entries)", directory])
    }
}
