#if Valkey
    import Foundation
    import HTTPCaching
    import SQLiteCache
    import TestSupport
    import TestTraits
    import Testing

    @testable import ValkeyCache

    @Suite("Mutated replies", .bounded)
    struct MutatedReplyTests {
        /// `Scripts/check-traits --soak` sends 50,000.
        private static let count = Soak.count(4000, inSoak: 50_000)
        private static let body = Sample.body(300)

        /// The replies to a lookup of one response.
        private struct Replies: Sendable {
            let entry: SharedEntry
            var value: Data
            var body = MutatedReplyTests.body

            init() {
                let response = Sample.response(at: Date(timeIntervalSince1970: 1_800_000_000))
                entry = SharedEntry(
                    StoredRecord(response), id: 7, revision: 7, body: StoredBody(MutatedReplyTests.body),
                    place: .server)
                value = entry.encoded
            }

            /// Changes a few bytes, of the value, of the body, or of the reply around them; returns the answer to a command.
            func mutated(_ name: String?, _ random: inout SeededGenerator) -> FakeServer.Answer {
                var replies = self
                let kind = Int.random(in: 0..<4, using: &random)
                if kind == 0 { Self.change(&replies.value, &random) }
                if kind == 1 { Self.change(&replies.body, &random) }
                var reply = replies.reply(to: name)
                // Seldom, so that the circuit breaker stays closed. The client would wait for the rest of such a reply.
                let isTorn = kind == 2 && Int.random(in: 0..<4, using: &random) == 0
                if isTorn { Self.change(&reply, &random) }
                return .data(reply, ends: isTorn)
            }

            private func reply(to name: String?) -> Data {
                let fields = Self.string(Data(entry.variant.utf8)) + Self.string(value)
                switch name {
                case "HGETALL": return Data("*2\r\n".utf8) + fields
                case "GETRANGE": return Self.string(body)
                default: return Data("*4\r\n".utf8) + fields + Self.string(Data(entry.variant.utf8)) + Self.string(body)
                }
            }

            private static func string(_ data: Data) -> Data {
                Data("$\(data.count)\r\n".utf8) + data + Data("\r\n".utf8)
            }

            private static func change(_ data: inout Data, _ random: inout SeededGenerator) {
                for _ in 0..<Int.random(in: 1...4, using: &random) {
                    let place = Int.random(in: 0..<data.count, using: &random)
                    switch Int.random(in: 0..<3, using: &random) {
                    case 0: data[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
                    case 1: data.insert(.random(in: 0...255, using: &random), at: place)
                    default: if data.count > 1 { data.remove(at: place) }
                    }
                }
            }
        }

        @Test("are a miss, or the stored response")
        func mutations() async throws {
            let (replies, random) = (Replies(), Locked(SeededGenerator(seed: 23)))
            let server = try FakeServer { command in
                let isLookup =
                    ["HGETALL", "GETRANGE"].contains(command[0]) || command[0] == "EVALSHA" && command.count == 6
                return isLookup ? random.withLock { replies.mutated(command[0], &$0) } : nil
            }
            let directory = DisposableDirectory("nothing")
            let nothing = SQLiteURLCache(memoryCapacity: 0, diskCapacity: 0, directory: directory.url)
            let cache = try await ValkeyURLCache.test(server.url, local: nothing, wait: 5).connected()
            let request = URLRequest(url: try #require(URL(string: Sample.url)))
            for number in 0..<Self.count {
                if number % 2 == 0 {
                    #expect(cache.bodies().allSatisfy { $0 == nil || $0 == Self.body })
                } else if let found = cache.cachedResponse(for: request) {
                    #expect(found.data == Self.body)
                }
            }
            let statistics = cache.statistics
            #expect(statistics.sharedHits > Self.count / 4 && statistics.corruptEntriesDropped > Self.count / 8)
        }
    }
#endif
