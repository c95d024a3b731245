#if !canImport(Darwin)
    import Foundation
    import HostileServer
    import TestTraits
    import Testing

    /// In a process of their own: a crash is then a failure of one test, and memory can be measured.
    @Suite("Hostile servers", .bounded)
    struct HostileServerTests {
        @Test("each case ends as the table says, is stored only if it is whole, and takes no more memory than allowed")
        func cases() async throws {
            let lines = try await HostileProcess.lines("cases")
            for line in lines where line.hasPrefix("wrong") { Issue.record("\(Self.described(line))") }
            let (begun, ended) = (Self.numbers("begin", lines), Self.numbers("end", lines))
            #expect(begun.subtracting(ended).map { "\(HostileCase.all[$0])" } == [], "the process ended in them")
            #expect(ended.count == HostileCase.all.count)
            #expect(lines.last == "done")
        }

        @Test("the documentation shows this table")
        func table() throws {
            let root = (0..<5).reduce(URL(fileURLWithPath: #filePath)) { url, _ in url.deletingLastPathComponent() }
            let document = try String(
                contentsOf: root.appendingPathComponent("Documentation/Linux.md"), encoding: .utf8)
            #expect(document.contains(HostileTable.markdown), "`swift run HostileChild table` prints the table")
        }

        private static func described(_ line: String) -> String {
            let words = line.split(separator: " ", maxSplits: 2)
            guard words.count == 3, let number = Int(words[1]) else { return line }
            return "\(HostileCase.all[number]): \(words[2])"
        }

        private static func numbers(_ word: String, _ lines: [String]) -> Set<Int> {
            Set(lines.map { $0.split(separator: " ") }.filter { $0.first == word[...] }.compactMap { Int($0[1]) })
        }
    }

    /// `Scripts/test --chaos SECONDS` lets it go on for longer.
    @Suite("Chaos", .bounded)
    struct ChaosTests {
        static let seconds = ProcessInfo.processInfo.environment["SYNCHRONIZER_CHAOS"] ?? "2"

        @Test("no wrong bytes, no completion lost or doubled, no growth, where one connection in three is faulty")
        func chaos() async throws {
            let lines = try await HostileProcess.lines("chaos", Self.seconds)
            print(lines.joined(separator: "\n"))
            #expect(lines.last == "done", "\(lines)")
        }
    }

    /// A run of the program that meets hostile servers.
    enum HostileProcess {
        /// Its lines, once it has ended. They are read on a thread of their own, because reading blocks.
        static func lines(_ arguments: String...) async throws -> [String] { try await result(arguments).lines }

        /// Its lines, and its exit status or the signal that has ended it.
        static func result(_ arguments: [String]) async throws -> (lines: [String], status: Int32) {
            try await withCheckedThrowingContinuation { continuation in
                Thread {
                    continuation.resume(
                        with: Result {
                            let child = try ChildProcess(program: "HostileChild", arguments)
                            return (child.rest(), child.status)
                        })
                }.start()
            }
        }
    }
#endif
