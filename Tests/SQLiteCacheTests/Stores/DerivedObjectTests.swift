import Foundation
import HTTPCaching
import SynchronizerSupport
import TestSupport
import TestTraits
import Testing

@testable import SQLiteCache

@Suite("Objects stored next to the body that they were made from", .bounded)
struct DerivedObjectTests {
    private let directory = TemporaryDirectory()
    private let url = "https://example.com/x"

    /// Stores a body, and returns what objects are made from.
    private func source(in cache: SQLiteURLCache, size: Int = 30_000, seed: UInt64 = 1) throws -> DerivedSource {
        let body = Sample.body(size, seed: seed)
        let id = try #require(cache.store(Sample.stored(url), as: try Sample.cached(url, body)))
        return DerivedSource(entry: id, checksum: body.withUnsafeBytes { Checksum64.of($0) }, bodySize: body.count)
    }

    @Test("are found by name, checksum and entry, before and after they are written", arguments: [0, 1 << 20])
    func found(memory: Int) throws {
        let cache = directory.urlCache(memory: memory)
        let source = try source(in: cache)
        let objects = [10, 2_000, 20_000, 100_000].map { Sample.body($0, seed: 2) }
        for (number, object) in objects.enumerated() {
            cache.keepDerivedObject(object, as: "image \(number)", of: source)
        }
        let others = [
            DerivedSource(entry: source.entry, checksum: source.checksum ^ 1, bodySize: source.bodySize),
            DerivedSource(entry: source.entry + 1, checksum: source.checksum, bodySize: source.bodySize),
        ]
        for isFlushed in [false, true] {
            if isFlushed { cache.flush() }
            for (number, object) in objects.enumerated() {
                #expect(cache.derivedObject("image \(number)", of: source) == object)
                #expect(others.allSatisfy { cache.derivedObject("image \(number)", of: $0) == nil })
            }
            #expect(cache.derivedObject("image", of: source) == nil)
        }
        cache.keepDerivedObject(objects[3], as: "image 0", of: source)
        #expect(cache.derivedObject("image 0", of: source) == objects[3])
    }

    @Test("are no responses")
    func invisible() async throws {
        let cache = directory.urlCache(memory: 1 << 20)
        let source = try source(in: cache)
        cache.keepDerivedObject(Data([1]), as: "image", of: source)
        cache.flush()
        var urls: [String] = []
        for await entry in cache.entries { urls.append(entry.url) }
        #expect(urls == [url])
        let contents = try CacheInspection(directory.url).contents()
        #expect(contents.entries.map(\.response.url) == [url])
        #expect(contents.objects.map(\.bodySize) == [1])
        #expect(cache.entries(for: DerivedEntry.url(ofObjectsFrom: source.entry)).isEmpty)
    }

    /// What removes a body, and whether its objects go with it.
    enum Event: CaseIterable {
        case update, otherVariant, newBody, remove, removeURL, removeAll, removeRecent
    }

    @Test("stay when the server confirms the response, and go with its body", arguments: Event.allCases, [false, true])
    func lifetimes(event: Event, isFlushed: Bool) throws {
        let cache = directory.urlCache(memory: 0)
        let source = try source(in: cache)
        let object = Sample.body(40_000, seed: 3)
        cache.keepDerivedObject(object, as: "image", of: source)
        if isFlushed { cache.flush() }
        let entry = try #require(cache.entries(for: url).first)
        switch event {
        case .update:
            var changed = entry.response
            changed.fields["Etag"] = "\"2\""
            cache.update(entry, to: changed)
        case .otherVariant:
            cache.store(Sample.stored(url, selecting: [("Accept", "x")]), as: try Sample.cached(url, Data([1])))
        case .newBody: _ = try self.source(in: cache, seed: 9)
        case .remove: cache.remove(entry)
        case .removeURL: cache.removeEntries(for: url)
        case .removeAll: cache.removeAll()
        case .removeRecent: cache.removeCachedResponses(since: .distantPast)
        }
        cache.flush()
        let remains = event == .update || event == .otherVariant
        #expect(cache.derivedObject("image", of: source) == (remains ? object : nil))
        if !remains {
            #expect(try directory.objects().isEmpty)
            // A late parse of the old body keeps nothing.
            cache.keepDerivedObject(object, as: "image", of: source)
            cache.flush()
            #expect(try directory.objects().isEmpty)
        }
    }

    @Test("are not kept for a response that only memory has")
    func memoryOnly() throws {
        let cache = directory.urlCache(memory: 1 << 20)
        let body = Sample.body(3_000, seed: 1)
        let cached = CachedURLResponse(
            response: try Sample.cached(url, body).response, data: body, storagePolicy: .allowedInMemoryOnly)
        let id = try #require(cache.store(Sample.stored(url), as: cached))
        let source = DerivedSource(
            entry: id, checksum: body.withUnsafeBytes { Checksum64.of($0) }, bodySize: body.count)
        cache.keepDerivedObject(Data([1, 2]), as: "image", of: source)
        cache.flush()
        #expect(try directory.objects().isEmpty)
    }

    @Test("stay out of memory if the disk does not take them, and are stored again when it works")
    func failingDisk() throws {
        let clock = ManualClock()
        let cache = directory.urlCache(memory: 1 << 20, time: clock)
        let source = try source(in: cache)
        cache.flush()
        let other = try directory.database()
        try other.execute(Schema.beginWriting)  // the writer waits
        let object = Sample.body(40_000, seed: 3)
        let before = cache.cache.state.withLock { $0.memory.cost }
        for fail in [cache.cache.abandonStores, { _ = cache.cache.diskFailed() }, {}] {
            cache.keepDerivedObject(object, as: "image", of: source)
            fail()
            #expect(cache.derivedObject("image", of: source) == nil)
            #expect(cache.cache.state.withLock { $0.memory.cost } == before)
        }
        #expect(cache.entries(for: url).map(\.bodySize) == [30_000])
        try other.execute(Schema.rollback)
        clock.advance(by: 3)
        let new = try self.source(in: cache)
        cache.keepDerivedObject(object, as: "image", of: new)
        cache.flush()
        #expect(cache.derivedObject("image", of: new) == object)
        #expect(try directory.objects().map(\.bodySize) == [40_000])
        cache.diskCapacity = 0  // now the responses in memory are all that is left
        #expect(cache.derivedObject("image", of: new) == nil)
        #expect(cache.entries(for: url).map(\.bodySize) == [30_000])
    }

    @Test("a corrupt one is dropped alone", arguments: [2_000, 60_000])
    func corrupt(size: Int) throws {
        let cache = directory.urlCache(memory: 0)
        let source = try source(in: cache)
        let object = Sample.body(size, seed: 3)
        cache.keepDerivedObject(object, as: "image", of: source)
        cache.close()
        try directory.flipByte(in: object)
        #expect(cache.derivedObject("image", of: source) == nil)
        let entry = try #require(cache.entries(for: url).first)
        #expect(cache.body(of: entry) == Sample.body(30_000, seed: 1))
    }

    @Test("are evicted like responses, and count towards the capacity")
    func eviction() throws {
        let cache = directory.urlCache(memory: 0, disk: 2 << 20)
        let source = try source(in: cache)
        for number in 0..<30 {
            cache.keepDerivedObject(Sample.body(400_000, seed: UInt64(number)), as: "image \(number)", of: source)
            _ = cache.entries(for: url)  // its use keeps the body that the objects belong to
            cache.flush()
            #expect(cache.currentDiskUsage <= (2 << 20) * 11 / 10)
        }
        let found = (0..<30).filter { cache.derivedObject("image \($0)", of: source) != nil }
        #expect(!found.isEmpty && found.count < 6)
    }
}

extension TemporaryDirectory {
    /// The objects in the database; none if there is no database.
    fileprivate func objects() throws -> [CacheInspection.Entry] {
        try Generation.newest(in: files) == nil ? [] : CacheInspection(url).contents().objects
    }

    /// Changes a byte in the middle of an object, wherever it is stored.
    fileprivate func flipByte(in object: Data) throws {
        for case let file as URL in try #require(
            FileManager.default.enumerator(at: url, includingPropertiesForKeys: nil))
        {
            guard var bytes = try? Data(contentsOf: file), let range = bytes.range(of: object) else { continue }
            bytes[range.lowerBound + 1_000] ^= 1
            try bytes.write(to: file)
            return
        }
        Issue.record("the object is in no file")
    }
}
