import Foundation
import ScriptedServer
import TestSupport
import Testing

@testable import SQLiteCache
@testable import Synchronizer

// Which objects are removed, not used, or not stored at all.
extension DerivedResourceTests {
    @Test("invalidated and removed responses have no objects")
    func removal() async throws {
        for removal in 0..<2 {
            _ = try await launch(resource)
            let cache = bench.cache()
            let synchronizer = bench.synchronizer(cache: cache)
            if removal == 0 { synchronizer.invalidate(resource) } else { synchronizer.removeAll() }
            // An invalidated response is missed at once, and removed from the disk soon.
            try await waitUntil("nothing is stored") { [directory = bench.directory] in
                cache.flush()
                return (try? CacheInspection(directory).contents().objects.isEmpty) ?? false
            }
            cache.close()
        }
        #expect(counts.all == [2, 0])
    }

    @Test("a corrupt or undecodable object gives way to the body")
    func undecodable() async throws {
        _ = try await launch(resource)
        var failing = resource
        failing.decodeFails = true
        #expect(try await launch(failing).object.hasPrefix("plain of 40001"))
        #expect(counts.all == [2, 1])
    }

    /// What keeps an object from being stored.
    enum Obstacle: CaseIterable {
        case off, quickParse, large, largeShare, noData, variantOfObject, noStore
    }

    @Test("only objects that were slow to parse and are small are stored", arguments: Obstacle.allCases)
    func obstacles(obstacle: Obstacle) async throws {
        var resource = resource
        if obstacle == .noData { resource.encoded = { _ in nil } }
        if obstacle == .variantOfObject { resource.variant = ResourceVariant("plain", identity: counts) }
        if obstacle == .noStore {
            bench.server["/a"] = Reply(Self.body(1), status: 200, fields: ["Cache-Control": "no-store"])
        }
        for _ in 0..<2 {
            _ = try await launch(resource) { configuration in
                switch obstacle {
                case .off: configuration.derivedObjects = nil
                case .quickParse: configuration.derivedObjects?.minimumParseTime = 1
                case .large: configuration.derivedObjects?.maximumSize = 20
                case .largeShare: configuration.derivedObjects?.maximumShare = 0.0001
                case .noData, .variantOfObject, .noStore: break
                }
            }
        }
        #expect(counts.all == [2, 0])
    }

    @Test("a cache that is not ours stores none")
    func foreignCache() async throws {
        let cache = URLCache(memoryCapacity: 1 << 20, diskCapacity: 0, diskPath: nil)
        for _ in 0..<2 {
            let synchronizer = bench.synchronizer(cache: cache) { $0.derivedObjects?.minimumParseTime = 0 }
            #expect(try await synchronizer.load(resource).hasPrefix("plain"))
        }
        #expect(counts.all == [2, 0])
    }
}
