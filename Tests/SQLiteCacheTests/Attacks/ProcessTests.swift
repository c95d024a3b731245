import Foundation
import SynchronizerSupport
import TestSupport
import TestTraits
import Testing

@testable import SQLiteCache

@Suite("Several processes, and processes that are killed", .bounded, .enabled(if: ChildProcess.isAvailable))
struct ProcessTests {
    /// What a key may hold after a kill: what it held at the last flush, or what a later step made of it.
    private struct Expectation {
        /// nil stands for nothing.
        private(set) var possible: [[Int?]] = []

        init(_ churn: StorageChurn, before: [Int?], flushed: Int, last: Int) {
            possible = before.map { [$0] }
            for number in 1...max(1, last) {
                let (key, result): (Int, Int?)
                switch churn.step(number) {
                case .store(let stored, _): (key, result) = (stored, number)
                case .remove(let removed): (key, result) = (removed, nil)
                case .flush: continue
                }
                if number <= flushed { possible[key] = [] }
                possible[key].append(result)
            }
        }
    }

    @Test("after a kill at any moment the cache opens, every entry is whole or absent, and what was flushed is there")
    func kills() throws {
        let end = Date().addingTimeInterval(Soak.seconds)
        let least = Sanitizers.areOn ? 20 : Soak.count(24, inSoak: 300)  // a sanitizer slows the start of each process
        let directory = TemporaryDirectory()
        var random = SeededGenerator(seed: 4)
        var present = [(seed: UInt64, step: Int)?](repeating: nil, count: StorageChurn.keys)
        var kills = 0
        while kills < least || Date() < end {
            kills += 1
            let seed = UInt64(kills)
            let child = try ChildProcess("churn", directory, [Int(seed), 256 << 20])
            var flushed = 0
            for _ in 0..<Int.random(in: 0..<5, using: &random) { flushed = child.line().flatMap { Int($0) } ?? 0 }
            var spin = SeededGenerator(seed: seed)  // some microseconds, so that the kill hits anything
            for _ in 0..<Int.random(in: 0..<3000, using: &random) where spin.next() == 0 { break }
            child.kill()
            flushed = child.rest().last.flatMap { Int($0) } ?? flushed
            let expectation = Expectation(
                StorageChurn(seed: seed), before: present.map { _ in 0 }, flushed: flushed,
                last: flushed + 2 * StorageChurn.stepsBetweenFlushes)
            present = try check(directory, seed, present, expectation)
        }
    }

    /// Opens the cache as the next process would; returns what is there.
    private func check(
        _ directory: TemporaryDirectory, _ seed: UInt64, _ before: [(seed: UInt64, step: Int)?],
        _ expectation: Expectation
    ) throws -> [(seed: UInt64, step: Int)?] {
        let reports = Reports()
        let cache = directory.cache(disk: 256 << 20, report: reports)
        var present: [(seed: UInt64, step: Int)?] = []
        for key in 0..<StorageChurn.keys {
            let url = "https://example.com/churn/\(key)"
            let rows = cache.rows(of: url) { _ in true }
            let found = try rows.first?.body.map { try #require(StorageChurn.identify($0, key: key)) }
            try #require(rows.count <= 1)
            // 0 stands for what was there before this child began.
            let isOld = found?.seed != seed
            try #require(
                !isOld || (found?.seed == before[key]?.seed && found?.step == before[key]?.step) || found == nil)
            let possible = expectation.possible[key]
            let state: Int? = isOld ? (found == nil ? nil : 0) : found?.step
            try #require(
                possible.contains(state) || (found == nil && before[key] == nil && possible.contains(0)),
                "key \(key) holds \(String(describing: found)), possible are \(possible)")
            present.append(found)
        }
        #expect(reports.lines.isEmpty)
        #expect(cache.state.withLock { $0.corrupt.count } == 0)
        cache.close()
        return present
    }

    @Test("killed while evicting, too, it leaves whole entries", arguments: 1...6)
    func killsWhileEvicting(_ seed: Int) throws {
        let directory = TemporaryDirectory()
        let capacity = 2 << 20
        let child = try ChildProcess("churn", directory, [seed, capacity])
        for _ in 0..<seed * 3 { _ = child.line() }
        child.kill()
        _ = child.rest()
        let cache = directory.cache(disk: capacity)
        for key in 0..<StorageChurn.keys {
            for row in cache.rows(of: "https://example.com/churn/\(key)", wanting: { _ in true }) {
                let body = try #require(row.body)
                #expect(StorageChurn.identify(body, key: key) != nil)
            }
        }
        #expect(cache.state.withLock { $0.corrupt.count } == 0)
        cache.flush()
        #expect(try directory.allocatedBytes() < capacity * 11 / 10)
    }

    @Test("three processes on one directory lose nothing and see nothing wrong", arguments: [0, 1 << 20])
    func sharing(_ memory: Int) throws {
        let directory = TemporaryDirectory()
        let steps = Soak.seconds < 60 ? Soak.count(300, inSoak: 1500) : 30_000
        let children = try (1...3).map { try ChildProcess("share", directory, [$0, steps, memory]) }
        var expected: [Int: Int] = [:]
        for child in children {
            let lines = child.rest()
            #expect(lines.last == "done", "\(lines)")
            let own = lines.first { $0.hasPrefix("own ") }?.split(separator: " ").dropFirst() ?? []
            for entry in own {
                let parts = entry.split(separator: ":").compactMap { Int($0) }
                expected[try #require(parts.first)] = parts.last
            }
        }
        #expect(expected.count > 10)
        let cache = directory.cache()
        for key in 0..<100 {
            let row = cache.rows(of: "https://example.com/churn/\(key)", wanting: { _ in true }).first
            let found = row?.body.flatMap { StorageChurn.identify($0, key: key) }
            #expect(found?.step == expected[key], "key \(key)")
        }
    }
}

extension TemporaryDirectory {
    /// What all files take on the disk, as `du` counts.
    func allocatedBytes() throws -> Int {
        var (total, counted) = (0, Set<UInt64>())
        // A directory may be gone before its files are listed.
        let names = FileManager.default.enumerator(atPath: url.path)?.compactMap { $0 as? String } ?? []
        // First come the databases, which grow, the newest first. Then come the files that may be removed while they are measured.
        // So the sum is at most the usage at the moment when the first file is measured.
        let databases = names.filter { $0.contains("/Database") }.sorted {
            $0.compare($1, options: .numeric) == .orderedDescending
        }
        let ordered = databases + names.filter { !databases.contains($0) }
        for path in ordered.map({ url.path + "/" + $0 }) {
            guard let status = FileSystem.status(path), counted.insert(UInt64(status.st_ino)).inserted else { continue }
            total += Int(FileSystem.allocatedBytes(path))
        }
        return total
    }
}
