#if os(macOS) || os(Linux)
    import Foundation
    import Testing

    /// A process of `StorageChild`, whose lines are read as they come.
    package final class ChildProcess {
        package static let isAvailable = true

        private let process = Process()
        private let output = Pipe()
        private var pending = Data()

        /// - Parameter shell: what a shell is to do first, such as `ulimit -f 100`.
        package init(_ mode: String, directory: URL, _ numbers: [Int] = [], shell: String? = nil) throws {
            try start("StorageChild", [mode, directory.path] + numbers.map(String.init), shell: shell)
        }

        /// A program of this package.
        ///
        /// - Parameter shell: what a shell is to do first, such as `exec 2>&1`.
        package init(program: String, _ arguments: [String], shell: String? = nil) throws {
            try start(program, arguments, shell: shell)
        }

        /// Runs a program of the system, to its end.
        package static func run(_ path: String, _ arguments: [String]) throws {
            let process = Process()
            process.executableURL = URL(fileURLWithPath: path)
            process.arguments = arguments
            try process.run()
            process.waitUntilExit()
        }

        private func start(_ name: String, _ arguments: [String], shell: String?) throws {
            let program = try Self.program(name)
            if let shell {
                process.executableURL = URL(fileURLWithPath: "/bin/sh")
                process.arguments = ["-c", shell + "; exec \"$0\" \"$@\"", program.path] + arguments
            } else {
                process.executableURL = program
                process.arguments = arguments
            }
            process.standardOutput = output
            process.standardError = FileHandle.nullDevice
            let own = ["SYNCHRONIZER_TESTS": "\(getpid())"]  // see `ParentProcess` of TestSupport
            process.environment = ProcessInfo.processInfo.environment.merging(own) { $1 }
            try process.run()
            try? output.fileHandleForWriting.close()
        }

        deinit {
            kill()
        }

        private static func program(_ name: String) throws -> URL {
            let places = [Bundle.main.executableURL, URL(fileURLWithPath: CommandLine.arguments[0])]
            var folders = places.compactMap { $0?.deletingLastPathComponent() }
            folders += Bundle.allBundles.map { $0.bundleURL.deletingLastPathComponent() }
            let programs = folders.map { $0.appendingPathComponent(name) }
            let found = programs.first { FileManager.default.isExecutableFile(atPath: $0.path) }
            return try #require(found, "\(name) is not beside the tests")
        }

        /// What it ended with, once all its lines have been read.
        package var status: Int32 { process.terminationStatus }

        /// The next line; nil at the end.
        package func line() -> String? {
            while true {
                if let end = pending.firstIndex(of: UInt8(ascii: "\n")) {
                    let line = String(decoding: pending[pending.startIndex..<end], as: UTF8.self)
                    pending.removeSubrange(pending.startIndex...end)
                    return line
                }
                let more = output.fileHandleForReading.availableData
                if more.isEmpty { return nil }
                pending.append(more)
            }
        }

        /// All lines to the end, once the process has ended by itself or by a signal.
        package func rest() -> [String] {
            var lines: [String] = []
            while let line = line() { lines.append(line) }
            process.waitUntilExit()
            return lines
        }

        /// Ends it, as nothing can be caught or tidied up.
        package func kill() {
            if process.isRunning { Foundation.kill(process.processIdentifier, SIGKILL) }
        }

        /// Whether it has done all that it should.
        package func expectSuccess(_ location: SourceLocation = #_sourceLocation) {
            let lines = rest()
            let hasExited = process.terminationReason == .exit && process.terminationStatus == 0
            #expect(lines.last == "done" && hasExited, "\(status): \(lines)", sourceLocation: location)
        }
    }
#endif
