import Foundation
import ScriptedServer
import TestSupport
import TestTraits
import Testing

@testable import Synchronizer

/// A workbench with a folder for files, and bodies that say which part of them is which.
struct FileBench {
    let bench: Workbench
    private let disposable = DisposableDirectory("files")
    var folder: URL { disposable.url }

    init() throws {
        bench = try Workbench()
        try FileManager.default.createDirectory(at: disposable.url, withIntermediateDirectories: true)
    }

    /// Different for each seed, at each place.
    static func body(_ count: Int, seed: UInt64 = 1) -> Data {
        var generator = SeededGenerator(seed: seed)
        let words = (0..<(count + 7) / 8).map { _ in generator.next() }
        return words.withUnsafeBytes { Data($0.prefix(count)) }
    }

    func file(_ name: String = "file") -> URL { folder.appendingPathComponent(name) }

    func resource(_ name: String = "file", _ target: String = "/a") -> FileResource {
        FileResource(url: bench.server.url(target), to: file(name))
    }

    func content(_ name: String = "file") -> Data? { try? Data(contentsOf: file(name)) }

    /// The names in the folder, hidden ones too.
    var names: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() }
    }

    /// The files in which bodies arrive in the cache.
    var partials: [String] {
        let all = FileManager.default.enumerator(atPath: bench.directory.path)?.compactMap { $0 as? String } ?? []
        return all.filter { $0.contains("Partial/") }
    }

    /// A synchronizer whose cache takes bodies of up to 30 MB, or none of more than 100 KB.
    func synchronizer(takesLarge: Bool = true, attempts: Int = 1) -> Synchronizer {
        let cache =
            takesLarge
            ? bench.cache()
            : SQLiteURLCache(memoryCapacity: 0, diskCapacity: 400 << 10, directory: bench.directory, time: bench.clock)
        return bench.synchronizer(cache: cache) { configuration in
            guard attempts > 1 else { return }
            configuration.retry = RetryPolicy()
            configuration.retry.maximumAttempts = attempts
            configuration.retry.totalTime = .infinity
        }
    }
}
