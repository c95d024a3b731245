import Foundation
import ScriptedServer
import TestSupport
import TestTraits
import Testing

@testable import SQLiteCache
@testable import Synchronizer

/// A resource that counts what is done for it.
struct Counted: DerivedResource {  // not private: the name of a private type does not last
    final class Counts: Sendable {
        let parses = Locked(0)
        let decodes = Locked(0)
        var all: [Int] { [parses.withLock { $0 }, decodes.withLock { $0 }] }
    }

    static let encodingVersion = "1"
    let url: URL
    let counts: Counts
    var variant: ResourceVariant = "plain"
    var token: String?
    var decodeFails = false
    var encoded: @Sendable (String) -> Data? = { Data($0.utf8) }

    func request() -> URLRequest {
        var request = URLRequest(url: url)
        if let token { request.setValue(token, forHTTPHeaderField: "Authorization") }
        return request
    }

    var parse: @Sendable (Data) throws -> String {
        { [counts, variant] data in
            counts.parses.withLock { $0 += 1 }
            return "\(variant.persistentName ?? "") of \(data.count) bytes, the first is \(data.first ?? 0)"
        }
    }

    func encode(_ object: String) throws -> Data? { encoded(object) }

    func decode(_ data: Data) throws -> String {
        counts.decodes.withLock { $0 += 1 }
        if decodeFails { throw CocoaError(.coderReadCorrupt) }
        return String(decoding: data, as: UTF8.self)
    }
}

/// A resource whose version changes, as from one release of a program to the next.
struct Versioned: DerivedResource {
    @TaskLocal static var version = "1"
    static var encodingVersion: String { version }
    let variant: ResourceVariant

    func request() -> URLRequest { URLRequest(url: URL(fileURLWithPath: "/")) }
    var parse: @Sendable (Data) throws -> String { { _ in "" } }
    func encode(_ object: String) throws -> Data? { nil }
    func decode(_ data: Data) throws -> String { "" }
}

/// Each launch is a new synchronizer over the same cache directory.
@Suite("Objects that are stored next to their responses", .bounded)
struct DerivedResourceTests {
    let bench: Workbench
    let counts = Counted.Counts()

    init() throws {
        bench = try Workbench()
        bench.server["/a"] = Reply(Self.body(1), status: 200, fields: ["Cache-Control": "max-age=60", "Etag": "\"1\""])
    }

    static func body(_ first: UInt8) -> Data { Data([first]) + Data(repeating: 7, count: 40_000) }

    var resource: Counted { Counted(url: bench.server.url("/a"), counts: counts) }

    /// Loads in a new synchronizer, and brings everything to the disk.
    func launch(
        _ resource: Counted, _ change: (inout Synchronizer.Configuration) -> Void = { _ in }
    ) async throws -> Loaded<String> {
        try await launch([resource], change)[0]
    }

    func launch(
        _ resources: [Counted], _ change: (inout Synchronizer.Configuration) -> Void = { _ in }
    ) async throws -> [Loaded<String>] {
        let cache = bench.cache()
        let synchronizer = bench.synchronizer(cache: cache) { configuration in
            configuration.derivedObjects?.minimumParseTime = 0
            change(&configuration)
        }
        var loaded: [Loaded<String>] = []
        for resource in resources { loaded.append(try await synchronizer.loaded(resource)) }
        synchronizer.loader.storing.wait()
        cache.close()
        return loaded
    }

    @Test("the next launch reads neither the body nor parses it")
    func nextLaunch() async throws {
        let first = try await launch(resource)
        #expect(counts.all == [1, 0] && first.trace.isDerived == false)
        try bench.removeBodyFiles(ofBytes: 40_001)
        let second = try await launch(resource)
        #expect(second.object == first.object && second.object.hasPrefix("plain of 40001"))
        #expect(counts.all == [1, 1])
        #expect(second.trace.isDerived && second.trace.source == .cache && second.trace.bytesSaved == 40_001)
        #expect(second.response.url == bench.server.url("/a"))
        #expect(bench.server.counts.requests == 1)
    }

    @Test("an object that is decoded is in memory from then on")
    func memory() async throws {
        _ = try await launch(resource)
        let loaded = try await launch([resource, resource])
        #expect(counts.all == [1, 1])
        #expect(loaded.map(\.trace.source) == [.cache, .memory])
    }

    /// Lets the stored response become stale, and sets the server's reply to its revalidation.
    private func revalidate(_ reply: Reply) {
        bench.clock.advance(by: 120)
        bench.server["/a"] = nil
        bench.server.handle("/a") { request in
            request["If-None-Match"] == "\"1\"" ? reply : Reply("no validator", status: 400)
        }
    }

    private var objects: [CacheInspection.Entry] {
        get throws { try CacheInspection(bench.directory).contents().objects }
    }

    @Test("a confirmed response keeps its objects, which are used at once, and in the next launch")
    func confirmed() async throws {
        _ = try await launch(resource)
        let before = try objects.map(\.id)
        revalidate(Reply("", status: 304, fields: ["Cache-Control": "max-age=60"]))
        for source in [LoadSource.revalidated, .cache] {
            let loaded = try await launch(resource)
            #expect(loaded.trace.source == source && loaded.trace.isDerived && loaded.object.hasSuffix("is 1"))
        }
        #expect(counts.all == [1, 2])
        #expect(try objects.map(\.id) == before && before.count == 1)
    }

    @Test("new bytes drop the objects that were made from the old ones")
    func newBytes() async throws {
        _ = try await launch(resource)
        let before = try objects.map(\.id)
        revalidate(Reply(Self.body(2), status: 200, fields: ["Cache-Control": "max-age=60"]))
        #expect(try await launch(resource) { $0.derivedObjects = nil }.object.hasSuffix("is 2"))
        #expect(try before.count == 1 && objects.isEmpty)
        for isDerived in [false, true] {
            let loaded = try await launch(resource)
            #expect(loaded.trace.isDerived == isDerived && loaded.object.hasSuffix("is 2"))
        }
    }

    @Test("a stale response that may be used after an error is not parsed, either")
    func staleIfError() async throws {
        bench.server["/a"] = Reply(
            Self.body(1), status: 200, fields: ["Cache-Control": "max-age=60, stale-if-error=600", "Etag": "\"1\""])
        _ = try await launch(resource)
        revalidate(Reply("", status: 503))
        let loaded = try await launch(resource)
        #expect(loaded.trace.source == .stale && loaded.trace.isDerived && loaded.object.hasSuffix("is 1"))
        #expect(counts.all == [1, 1])
    }

    @Test("an object that is shown while the server is asked is not parsed, and its confirmation is the same object")
    func shownMeanwhile() async throws {
        _ = try await launch(resource)
        let gate = Gate()
        revalidate(Reply("", status: 304, fields: ["Cache-Control": "max-age=60"]).waiting(for: gate))
        let synchronizer = bench.synchronizer(cache: bench.cache())
        var phases: [String] = []
        for try await update in synchronizer.updates(of: resource) {
            phases.append(String("\(update.phase)".prefix { $0 != "(" }))
            #expect(update.object.hasSuffix("is 1"))
            gate.open()
        }
        #expect(phases == ["stored", "unchanged"])
        #expect(counts.all == [1, 1])
    }

    @Test("each variant has its own, and one that is not stored needs the body")
    func variants() async throws {
        var other = resource
        other.variant = "other"
        _ = try await launch(resource)
        #expect(try await launch(other).object.hasPrefix("other"))
        #expect(counts.all == [2, 0])
        #expect(try await launch([resource, other]).map(\.trace.isDerived) == [true, true])
        #expect(counts.all == [2, 2])
    }

    @Test("loads of several variants at once get their own objects")
    func atOnce() async throws {
        let variants: [ResourceVariant] = ["1", "2", "3"]
        let resources = variants.map { Counted(url: bench.server.url("/a"), counts: counts, variant: $0) }
        _ = try await launch(Array(resources[..<2]))
        let synchronizer = bench.synchronizer(cache: bench.cache())
        for resources in [Array(resources[..<2]), resources] {
            synchronizer.removeAllObjects()
            let loads = resources.map { resource in
                let object = Collector<String>()
                // One after the other, so that the first gets its stored object.
                _ = synchronizer.loadResource(resource) { object.append((try? $0.get()) ?? "") }
                return object
            }
            for (number, load) in loads.enumerated() {
                #expect(try await load.wait(for: 1).first?.hasPrefix("\(number + 1) of 40001") == true)
            }
        }
        // In the second round the body is read for the third variant; a load that coalesces after that parses it, too.
        #expect((3...5).contains(counts.parses.withLock { $0 }))
        #expect(bench.server.counts.requests == 1)
    }

    @Test("an object of a body that is gone is not delivered with the new one")
    func bodyIsGone() async throws {
        let resources = ["1", "2"].map { Counted(url: bench.server.url("/a"), counts: counts, variant: $0) }
        _ = try await launch([resources[0]])
        try bench.removeBodyFiles(ofBytes: 40_001)
        bench.server["/a"] = Reply(Self.body(2), status: 200, fields: ["Cache-Control": "max-age=60", "Etag": "\"2\""])
        let synchronizer = bench.synchronizer(cache: bench.cache())
        let objects = Collector<String>()
        // The first one finds that the body is gone. The second one either shares its load, or finds the new response.
        for resource in resources.reversed() {
            synchronizer.loadResource(resource, on: .global()) { objects.append((try? $0.get()) ?? "an error") }
        }
        try await objects.wait(for: 2)
        objects.append(try await synchronizer.load(resources[0]))
        #expect(objects.elements.allSatisfy { $0.hasSuffix("the first is 2") })
    }

    @Test("no two pairs of version and variant have one name, whatever characters they have")
    func names() {
        let parts = ["", " ", "1", "1 ", "1 1", "1 1 1", "11", "2 1", "é"]
        let names = parts.flatMap { version in
            parts.map { variant in
                Versioned.$version.withValue(version) {
                    DerivedCoding(Versioned(variant: ResourceVariant(variant)))?.name
                }
            }
        }
        #expect(Set(names.compactMap { $0 }).count == parts.count * parts.count)
    }

    @Test("nothing is stored for a private type, whose name differs in each launch")
    func privateType() {
        #expect(DerivedCoding(Hidden()) == nil)
        #expect(DerivedCoding(resource) != nil)
    }

    private struct Hidden: DerivedResource {
        static let encodingVersion = "1"
        var parse: @Sendable (Data) throws -> String { { _ in "" } }
        func request() -> URLRequest { URLRequest(url: URL(fileURLWithPath: "/")) }
        func encode(_ object: String) throws -> Data? { nil }
        func decode(_ data: Data) throws -> String { "" }
    }

    @Test(
        "an object is not shared with the response to other credentials, even if it has the same bytes",
        arguments: [false, true], ["Authorization", "Accept"])
    func credentials(hasSameBytes: Bool, vary: String) async throws {
        bench.server["/a"] = nil
        bench.server.handle("/a") { request in
            Reply(
                Self.body(hasSameBytes ? 1 : UInt8(request["Authorization"]?.utf8.first ?? 0)), status: 200,
                fields: ["Cache-Control": "max-age=60, private", "Vary": vary])
        }
        for (number, token) in ["A", "B", "A", "B"].enumerated() {
            var mine = resource
            mine.token = token
            let loaded = try await launch(mine)
            #expect(loaded.trace.isDerived == (number >= 2))
            #expect(loaded.object.hasSuffix("is \(hasSameBytes ? 1 : token.utf8.first ?? 0)"))
        }
        #expect(counts.all == [2, 2])
        #expect(bench.server.counts.requests == 2)
    }
}

extension Workbench {
    /// Makes the body files of that size unreadable as bodies.
    fileprivate func removeBodyFiles(ofBytes size: Int) throws {
        let files = FileManager.default.enumerator(at: directory, includingPropertiesForKeys: [.fileSizeKey])
        for case let file as URL in try #require(files) {
            if try file.resourceValues(forKeys: [.fileSizeKey]).fileSize == size {
                try Data(count: size).write(to: file)
            }
        }
    }
}
