#if Valkey
    import Foundation
    import TestSupport
    import TestTraits
    import Testing

    @testable import ValkeyCache

    @Suite("Values that no cache has stored", .bounded, .enabled(if: RedisServer.isInstalled))
    struct CorruptValueTests {
        private let server: RedisServer
        private let one: ValkeyURLCache
        private let entries: String

        init() async throws {
            server = try RedisServer()
            one = try await ValkeyURLCache.test(server.url).connected()
            one.removeEntries(for: Sample.url)
            try one.put(Sample.body(300), selecting: [("Accept", "a")])
            entries = one.level.keys.entries(of: URLDigest(Sample.url), in: try one.level.generation())
        }

        private func keys() throws -> [String] {
            try #require(try server.run("KEYS", "*").array?.compactMap(\.text)).sorted()
        }

        private func body() throws -> String {
            try #require(try keys().first { $0.hasPrefix(entries) && $0 != entries })
        }

        enum Kind: CaseIterable {
            case otherType, manyFields, largeField, bodyOfOtherType, generationOfOtherType
        }

        private func corrupt(_ kind: Kind) throws {
            switch kind {
            case .otherType:
                try server.run("DEL", entries)
                try server.run("SET", entries, "text")
            case .manyFields:
                try server.run("EVAL", "for i = 1, 9000 do redis.call('HSET', KEYS[1], i, i) end", "1", entries)
            case .largeField:
                try server.run(
                    "EVAL", "redis.call('HSET', KEYS[1], 'z', string.rep('x', 40000000))", "1", entries)
            case .bodyOfOtherType:
                let body = try body()
                try server.run("DEL", body)
                try server.run("LPUSH", body, "text")
            case .generationOfOtherType:
                try server.run("DEL", one.level.keys.generation)
                try server.run("LPUSH", one.level.keys.generation, "text")
            }
        }

        @Test("the inspection finds them, and changes nothing", arguments: Kind.allCases)
        func inspection(_ kind: Kind) throws {
            one.level.subscription.stop()  // the cache itself changes them
            try corrupt(kind)
            func state() throws -> [ValkeyCache.Reply] {
                try keys().map { try server.run("EVAL", "return redis.sha1hex(redis.call('DUMP', KEYS[1]))", "1", $0) }
            }
            let before = (try keys(), try state())
            for _ in 0..<4 {
                let inspection = try SharedInspection(server.url, namespace: nil)
                let contents = try inspection.contents()
                let lacking = try contents.entries.filter { try inspection.isIntact($0) == false }.count
                #expect(contents.corrupt + lacking == 1)
            }
            if ChildProcess.isAvailable {
                let tool = try ChildProcess(program: "synchronizer-cache", [server.url, "--verify"])
                #expect(tool.rest().first?.hasPrefix("✘") == true && tool.status == 1)
            }
            #expect(try keys() == before.0)
            #expect(try state() == before.1)
        }

        @Test("an inspection of many of them ends")
        func many() throws {
            for number in 0..<10 {
                let key = one.level.keys.entries(
                    of: URLDigest("https://example.com/\(number)"), in: try one.level.generation())
                try server.run("SET", key, "text")
            }
            let contents = try SharedInspection(server.url, namespace: "test").contents()
            #expect(contents.entries.count == 1 && contents.corrupt == 10)
        }

        @Test("a body of another type is removed; the entries and the last removal stay")
        func bodyOfOtherType() async throws {
            let body = try body()
            try corrupt(.bodyOfOtherType)
            let other = try await ValkeyURLCache.test(server.url).connected()
            for _ in 0..<5 { #expect(other.bodies() == [nil]) }
            #expect(try server.run("HLEN", entries).number == 2 && other.statistics.failures == 1)
            #expect(try server.run("EXISTS", body).number == 0)
            try one.put(Sample.body(301), selecting: [("Accept", "a")])
            try await other.hearsAll(of: one)
            #expect(other.bodies() == [Sample.body(301)])
        }
    }
#endif
