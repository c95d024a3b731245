import Foundation

/// The sample site: another process, which ends when its input pipe closes.
@MainActor
final class SiteProcess {
    struct Counts: Decodable {
        /// Requests received.
        let requests: Int
        /// Bytes of bodies sent.
        let bytes: Int
    }

    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    private let process: Process
    private let input: Pipe
    private let lines: LineReader
    /// The base URL, such as `http://127.0.0.1:41731`.
    let base: URL

    /// Starts the site. A cache is keyed by URL, which contains the port, so the port is fixed. If it is taken, another one
    /// is used.
    init(port: Int = 0) throws {
        do {
            (process, input, lines, base) = try Self.start(port: port)
        } catch  where port != 0 {
            (process, input, lines, base) = try Self.start(port: 0)
        }
    }

    private static func start(port: Int) throws -> (Process, Pipe, LineReader, URL) {
        let folder = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
        let (process, input, output) = (Process(), Pipe(), Pipe())
        process.executableURL = folder.appendingPathComponent("GallerySite")
        process.arguments = ["--port", "\(port)"]
        process.standardInput = input
        process.standardOutput = output
        if port != 0 { process.standardError = FileHandle.nullDevice }
        try process.run()
        let lines = LineReader(output.fileHandleForReading)
        guard let line = lines.next(), let port = Int(line), let base = URL(string: "http://127.0.0.1:\(port)") else {
            throw Failure(description: "the sample site did not start")
        }
        return (process, input, lines, base)
    }

    func url(_ target: String) -> URL {
        URL(string: target, relativeTo: base)?.absoluteURL ?? base
    }

    /// Sends a command, and waits for the answer.
    @discardableResult
    func say(_ command: String) -> String {
        try? input.fileHandleForWriting.write(contentsOf: Data((command + "\n").utf8))
        return lines.next() ?? ""
    }

    /// The counts so far.
    func counts() throws -> Counts {
        try JSONDecoder().decode(Counts.self, from: Data(say("counts").utf8))
    }

    /// Stops the site.
    func stop() {
        try? input.fileHandleForWriting.close()
        process.waitUntilExit()
    }
}

/// Reads complete lines from a pipe.
private final class LineReader {
    private let file: FileHandle
    private var received = Data()

    init(_ file: FileHandle) {
        self.file = file
    }

    func next() -> String? {
        while true {
            if let end = received.firstIndex(of: UInt8(ascii: "\n")) {
                defer { received = Data(received[(end + 1)...]) }
                return String(decoding: received[..<end], as: UTF8.self)
            }
            let more = file.availableData
            if more.isEmpty { return nil }
            received += more
        }
    }
}
