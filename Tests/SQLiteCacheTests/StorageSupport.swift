import Foundation
import HTTPCaching
import SynchronizerSupport
import TestSupport
import TestTraits
import Testing

@testable import SQLiteCache

/// Both layers alone and together; each cache is asked again by a second one on the same directory.
let layers: [(memory: Int, disk: Int)] = [(1 << 20, 0), (0, 8 << 20), (1 << 20, 8 << 20)]

/// A directory that is there for one test.
final class TemporaryDirectory: Sendable {
    private let directory = DisposableDirectory("storage")
    private let links = DisposableDirectory("links")

    var url: URL { directory.url }
    var files: CacheDirectory { CacheDirectory(url) }

    var generation: Generation {
        get throws { try #require(try Generation.newest(in: files)) }
    }

    /// A connection to the database of a cache that may be writing it at the moment.
    func database() throws -> Database {
        try Database(path: generation.database, busyTimeout: BusyTimeout(seconds: 60))
    }

    /// Makes generation 1.
    func makeGeneration() throws {
        try files.prepare()
        try Generation.make(after: nil, in: files, at: Date(timeIntervalSince1970: 0))
    }

    /// The folder of the body files. If there is no generation, a path that does not exist.
    var bodies: String { (try? generation)?.bodies.settled ?? "/nonexistent" }

    /// Returns once what was replaced has been deleted.
    func waitForRemovals() { FileSystem.removals.sync {} }

    /// Returns once the last change of the database is old enough for lookups without a lock, after some ticks of the
    /// system's clock.
    func settle() throws {
        let path = try generation.database
        while !FileStamp(try #require(FileSystem.status(path))).isSettled(at: FileStamp.now()) { sched_yield() }
    }

    /// A cache of its own on the directory, as another process would have one.
    func cache(
        memory: Int = 0, disk: Int = 64 << 20, time: any TimeSource = SystemTime(), report: Reports = Reports()
    ) -> ResponseCache {
        ResponseCache(
            memoryCapacity: memory, diskCapacity: disk, directory: url, time: time, report: { report.add($0) })
    }

    func urlCache(memory: Int = 0, disk: Int = 64 << 20, time: any TimeSource = SystemTime()) -> SQLiteURLCache {
        SQLiteURLCache(memoryCapacity: memory, diskCapacity: disk, directory: url, time: time)
    }

    /// A cache that knows the directory by another path, and so shares it as another process does.
    func linkedCache(time: any TimeSource) throws -> SQLiteURLCache {
        for directory in [links.url, url] {
            try FileManager.default.createDirectory(
                at: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        }
        let link = links.url.appendingPathComponent("cache")
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: url)
        return SQLiteURLCache(memoryCapacity: 0, diskCapacity: 64 << 20, directory: link, time: time)
    }
}

extension ChildProcess {
    /// A process of `StorageChild` that uses a cache in that directory.
    convenience init(
        _ mode: String, _ directory: TemporaryDirectory, _ numbers: [Int] = [], shell: String? = nil
    ) throws {
        try self.init(mode, directory: directory.url, numbers, shell: shell)
    }
}

/// The lines that a cache has logged.
final class Reports: Sendable {
    private let kept = Locked<[String]>([])

    func add(_ line: String) { kept.withLock { $0.append(line) } }
    var lines: [String] { kept.withLock { $0 } }
}

enum Sample {
    static func request(_ url: String, _ fields: [String: String] = [:], method: String = "GET") throws -> URLRequest {
        var request = URLRequest(url: try #require(URL(string: url)))
        request.httpMethod = method
        for (name, value) in fields { request.setValue(value, forHTTPHeaderField: name) }
        return request
    }

    static func cached(
        _ url: String, _ body: Data, status: Int = 200, _ fields: [String: String] = [:],
        userInfo: [AnyHashable: Any]? = nil, policy: URLCache.StoragePolicy = .allowed
    ) throws -> CachedURLResponse {
        let response = HTTPURLResponse(
            url: try #require(URL(string: url)), statusCode: status, httpVersion: "HTTP/1.1", headerFields: fields)
        return CachedURLResponse(
            response: try #require(response), data: body, userInfo: userInfo, storagePolicy: policy)
    }

    static func stored(
        _ url: String, _ fields: [(String, String)] = [("Content-Type", "text/plain")],
        selecting: [(String, String)] = [], status: Int = 200,
        at time: Date = Date(timeIntervalSince1970: 1_800_000_000)
    ) -> StoredResponse {
        StoredResponse(
            url: url, method: "GET", selectingFields: HTTPFields(selecting), status: status, fields: HTTPFields(fields),
            requestTime: time, responseTime: time.addingTimeInterval(1))
    }

    /// Bytes that differ for every seed, and that a body which is cut off or mixed up does not have.
    static func body(_ count: Int, seed: UInt64) -> Data {
        guard count > 0 else { return Data() }
        let start = Int(seed % 100_003)
        var body = Data(capacity: count)
        while body.count < count {
            body.append(noise[start..<min(noise.count, start + count - body.count)])
        }
        withUnsafeBytes(of: seed.littleEndian) { body.replaceSubrange(0..<min(8, count), with: $0.prefix(count)) }
        return body
    }

    private static let noise: Data = {
        var generator = SeededGenerator(seed: 1)
        let words = (0..<1 << 17).map { _ in generator.next() }
        return words.withUnsafeBytes { Data($0) }
    }()
}

enum Sanitizers {
    /// Whether this was built with the thread or the address sanitizer.
    static let areOn: Bool = {
        let program = dlopen(nil, RTLD_NOW)
        return dlsym(program, "__tsan_init") != nil || dlsym(program, "__asan_init") != nil
    }()
}

/// A removal that waits to be written.
final class OneRemoval: WriteSource {
    private struct State {
        var isWritten = false
        var lostDatabases = 0
    }

    let diskCapacity = 8 << 20
    var now: Date { Date() }
    let url: String
    private let state = Locked(State())
    private let written = DispatchSemaphore(value: 0)

    init(_ url: String) {
        self.url = url
    }

    var isWritten: Bool { state.withLock { $0.isWritten } }
    var lostDatabases: Int { state.withLock { $0.lostDatabases } }
    func waitUntilWritten() { written.wait() }

    let pendingEnd = 1

    func nextBatch(_ budget: DiskBudget) -> (changes: [Change], end: Int) {
        (isWritten ? [] : [.removeURL(url, urlKey: Checksum64.of(url))], 1)
    }

    func didWrite(before end: Int) {
        state.withLock { $0.isWritten = true }
        written.signal()
    }

    func didRemoveDatabase() { state.withLock { $0.lostDatabases += 1 } }
    func diskFailed() -> Bool { true }
    func didEvict(_ count: Int) {}
    func didRefuse() {}
    func abandonStores() {}
    func diskIsBusy() {}
    func takeUsageTimes() -> [Int64: Int64] { [:] }
    func putBack(usageTimes: [Int64: Int64]) {}
}

extension DiskWriter {
    /// Suspends the queue between two of its blocks, so that none of them goes on.
    func suspend() { queue.sync { queue.suspend() } }
}
