import Foundation
import SynchronizerSupport
import TestSupport
import TestTraits
import Testing

@testable import SQLiteCache

/// The state that lookups without a lock find in each phase of a transaction. Another connection, which need not be one of
/// ours, begins the transaction before or during the lookup.
///
/// All entries have the same usage time, which each transaction changes in all of them. Committed times are even.
@Suite("The state that a lookup finds", .bounded)
struct LookupStateTests {
    private let directory = TemporaryDirectory()
    /// Fewer pages than a transaction changes, so that it writes some to the file before the commit.
    private let fewPages = "PRAGMA cache_size = 4; PRAGMA cache_spill = 1"

    init() throws {
        try directory.makeGeneration()
        let writer = try writer()
        try writer.execute("BEGIN")
        for id in 1...400 {
            try writer.execute(
                "INSERT INTO entries VALUES (\(id), \(id % 7), 1, \(id), 0, 0, 0, 0, 0, zeroblob(500), NULL)")
        }
        try writer.execute("COMMIT")
        try directory.settle()
    }

    private func writer() throws -> Database {
        try directory.database()
    }

    private func connection() throws -> ReadConnection {
        try ReadConnection(generation: directory.generation, busyTimeout: .none, locks: false)
    }

    /// The usage times of all entries.
    ///
    /// - Parameters:
    ///   - count: how often the lookup reads them.
    ///   - duringLookup: runs in the middle of the lookup.
    private func times(
        _ connection: ReadConnection, count: Int = 1, duringLookup: () throws -> Void = {}
    ) throws -> Set<Int64> {
        try connection.inOneState { () throws(SQLiteFailure) in
            let selection = try connection.database.statement("SELECT used FROM entries ORDER BY id")
            defer { selection.reset() }
            var times: Set<Int64> = []
            for _ in 0..<count {
                while try selection.step() {
                    if times.isEmpty { #expect(throws: Never.self) { try duringLookup() } }
                    times.insert(selection.integer())
                }
            }
            return times
        }
    }

    private func change(to time: Int64) -> String { "UPDATE entries SET used = \(time)" }

    private func isBusy(_ connection: ReadConnection, duringLookup: () throws -> Void = {}) -> Bool {
        let failure = #expect(throws: SQLiteFailure.self) { _ = try times(connection, duringLookup: duringLookup) }
        return failure?.isBusy == true
    }

    @Test("a transaction that has changed nothing does not hold up lookups", arguments: ["IMMEDIATE", "EXCLUSIVE"])
    func nothingChanged(_ kind: String) throws {
        let (connection, writer) = (try connection(), try writer())
        try writer.execute("BEGIN \(kind)")
        #expect(try times(connection) == [0])
        try writer.execute("COMMIT")
        #expect(try times(connection) == [0])
    }

    @Test("a lookup takes a lock once a transaction has changed anything", arguments: ["IMMEDIATE", "EXCLUSIVE"])
    func changed(_ kind: String) throws {
        let (connection, writer) = (try connection(), try writer())
        try writer.execute("BEGIN \(kind); \(change(to: 1))")
        #expect(isBusy(connection))
        try writer.execute("ROLLBACK")
        #expect(try times(connection) == [0])
    }

    @Test("a lookup takes a lock while uncommitted pages are in the file", arguments: [true, false])
    func spilled(_ beginsBefore: Bool) throws {
        let (connection, writer) = (try connection(), try writer())
        #expect(try times(connection) == [0])
        let before = try Data(contentsOf: URL(fileURLWithPath: directory.generation.database))
        let begin = { try writer.execute("\(fewPages); BEGIN; \(change(to: 1))") }
        if beginsBefore { try begin() }
        #expect(isBusy(connection, duringLookup: { if !beginsBefore { try begin() } }))
        let spilled = try Data(contentsOf: URL(fileURLWithPath: directory.generation.database))
        #expect(spilled != before && spilled.prefix(100) == before.prefix(100))
        try writer.execute(change(to: 2) + "; COMMIT")
        try directory.settle()
        #expect(try times(connection) == [2])
    }

    @Test("a transaction that begins and ends during a lookup is not seen in part", arguments: ["COMMIT", "ROLLBACK"])
    func during(_ end: String) throws {
        let (connection, writer) = (try connection(), try writer())
        #expect(
            isBusy(connection, duringLookup: { try writer.execute("\(fewPages); BEGIN; \(change(to: 2)); \(end)") }))
        try directory.settle()
        #expect(try times(connection) == [end == "COMMIT" ? 2 : 0])
    }

    @Test("a commit that fails after it has written pages is not seen")
    func failedCommit() throws {
        let connection = try connection()
        #expect(try times(connection) == [0])
        // What such a commit does to the file, with the header first, and what a rollback restores.
        let file = open(try directory.generation.database, O_RDWR)
        defer { close(file) }
        let before = try Data(contentsOf: URL(fileURLWithPath: directory.generation.database))
        let writer = try writer()
        try writer.execute("BEGIN; \(change(to: 1)); COMMIT")
        let after = try Data(contentsOf: URL(fileURLWithPath: directory.generation.database))
        let write = { (content: Data) in
            for page in stride(from: 0, to: content.count, by: 4096) {
                let written = content[page..<page + 4096].withUnsafeBytes {
                    pwrite(file, $0.baseAddress, 4096, off_t(page))
                }
                #expect(written == 4096)
            }
        }
        write(before)
        try directory.settle()
        #expect(
            isBusy(
                connection,
                duringLookup: {
                    write(after); write(before)
                }))
        try directory.settle()
        #expect(try times(connection) == [0])
    }

    @Test("lookups beside a writer of another kind find one committed state, or none")
    func random() throws {
        let ended = Locked(false)
        let found = Locked<(answers: Int, busy: Int, wrong: [Set<Int64>])>((0, 0, []))
        let readers = DispatchGroup()
        for _ in 0..<2 {
            DispatchQueue.global().async(group: readers) { [self] in
                var reader: ReadConnection?
                while !ended.withLock({ $0 }) {
                    do {
                        let connection = try reader ?? connection()
                        reader = nil
                        try connection.database.execute("PRAGMA cache_size = 1")
                        let times = try times(connection, count: 20)
                        reader = connection
                        found.withLock { found in
                            found.answers += 1
                            if times.count != 1 || times.contains(where: { $0 % 2 == 1 }) { found.wrong.append(times) }
                        }
                    } catch {
                        found.withLock { $0.busy += 1 }
                    }
                }
            }
        }
        let writer = try writer()
        try writer.execute(fewPages)
        var transaction = 0
        // At least 60, and until the readers have found both.
        while transaction < 60 || found.withLock({ $0.answers == 0 || $0.busy == 0 }) {
            transaction += 1
            let isCommitted = transaction % 3 == 0
            let time = Int64(isCommitted ? transaction * 2 : transaction * 2 + 1)
            try writer.execute("BEGIN; \(change(to: time)); \(isCommitted ? "COMMIT" : "ROLLBACK")")
            try directory.settle()
        }
        ended.withLock { $0 = true }
        readers.wait()
        #expect(found.withLock { $0.wrong } == [])
        #expect(found.withLock { $0.answers > 0 && $0.busy > 0 })
    }
}
