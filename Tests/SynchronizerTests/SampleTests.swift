import Foundation
import ScriptedServer
import Synchronizer
import TestSupport
import TestTraits
import Testing

// The sample of `SessionDelegate`'s documentation.
final class SmallResponsesOnly: SessionDelegate, @unchecked Sendable {  // its state is constant
    private let limit = 100_000

    override func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, willCacheResponse proposedResponse: CachedURLResponse,
        completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void
    ) {
        guard proposedResponse.data.count <= limit else { return completionHandler(nil) }
        super.urlSession(
            session, dataTask: dataTask, willCacheResponse: proposedResponse, completionHandler: completionHandler)
    }
}

/// The samples in the comments of the public types, word for word in this file: it compiles them, without warnings under
/// `Scripts/test --warnings-as-errors`.
@Suite("Samples in the documentation", .bounded)
struct SampleTests {
    private static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    @Test(
        "each is in this file as it is in the documentation",
        arguments: ["Synchronizer/Configuration/SessionDelegate.swift", "SQLiteCache/SQLiteURLCache.swift"])
    func wordForWord(file: String) throws {
        let sample = try Self.sample(in: Self.root.appendingPathComponent("Sources/" + file))
        let own = try Self.lines(of: URL(fileURLWithPath: #filePath)).map { $0.trimmingCharacters(in: .whitespaces) }
        let place = own.indices.first { own[$0...].starts(with: sample) }
        #expect(!sample.isEmpty && place != nil, "\(sample)")
    }

    /// The lines between ```swift and ``` in the first comment that has such.
    private static func sample(in file: URL) throws -> [String] {
        let comments = try lines(of: file).filter { $0.hasPrefix("///") }
            .map { $0.dropFirst(3).trimmingCharacters(in: .whitespaces) }
        return Array(comments.drop { $0 != "```swift" }.dropFirst().prefix { $0 != "```" })
    }

    private static func lines(of file: URL) throws -> [String] {
        try String(contentsOf: file, encoding: .utf8).components(separatedBy: "\n")
    }

    /// The sample of `SQLiteURLCache`'s documentation, which no test calls: its directory is the user's.
    private func cacheOfTheUser() -> Synchronizer {
        let cache = SQLiteURLCache(memoryCapacity: 20 << 20, diskCapacity: 200 << 20)
        let synchronizer = Synchronizer(cacheTime: 24 * 60 * 60, urlCache: cache)
        return synchronizer
    }

    @Test("SQLiteURLCache: its cache stores what the synchronizer loads")
    func cache() async throws {
        let bench = try Workbench()
        bench.server["/a"] = Reply("abc")
        let resource = DataResource(url: bench.server.url("/a"))
        let directory = DisposableDirectory("samples")
        let cache = SQLiteURLCache(memoryCapacity: 20 << 20, diskCapacity: 200 << 20, directory: directory.url)
        let synchronizer = Synchronizer(cacheTime: 24 * 60 * 60, urlCache: cache)
        _ = try await synchronizer.load(resource)
        synchronizer.removeAllObjects()
        #expect(try await synchronizer.loaded(resource).source == .cache)
        #expect(cache.cachedResponse(for: resource.request())?.data == Data("abc".utf8))
    }

    @Test("SessionDelegate: its subclass stores small responses only")
    func subclass() async throws {
        let bench = try Workbench()
        let synchronizer = bench.synchronizer(cacheTime: 60, delegate: SmallResponsesOnly(cacheTime: 60))
        for (size, source) in [(1_000, LoadSource.cache), (200_000, .network)] {
            bench.server["/a"] = Reply(Data(repeating: 1, count: size))
            let resource = DataResource(url: bench.server.url("/a?\(size)"))
            _ = try await synchronizer.load(resource)
            synchronizer.removeAllObjects()
            #expect(try await synchronizer.loaded(resource).source == source)
        }
    }
}
