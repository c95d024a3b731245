#if Valkey
    import Foundation
    import HTTPCaching
    import SQLiteCache
    import SynchronizerTesting
    import TestSupport
    import TestTraits
    import Testing

    @testable import ValkeyCache

    @Suite("What removals ask of a server", .bounded)
    struct RemovalCallTests {
        /// The scripts that store and remove have so many words.
        private static let (store, remove, invalidate, begin) = (16, 9, 8, 7)

        private static func bulk(_ data: Data) -> Data {
            Data("$\(data.count)\r\n".utf8) + data + Data("\r\n".utf8)
        }

        @Test("an entry that a lookup copies while the server removes it does not come back")
        func lookupDuringRemoval() async throws {
            let body = Sample.body(5)
            let shared = SharedEntry(
                StoredRecord(Sample.response(), with: try Sample.cached(body)), id: 1, revision: 1,
                body: StoredBody(body), place: .server)
            let (cache, isRemoved) = (Locked<ValkeyURLCache?>(nil), Locked(false))
            let server = try FakeServer { command in
                switch command[0] {
                case "HGETALL" where !isRemoved.withLock { $0 }:
                    let fields = [Data(shared.variant.utf8), shared.encoded].map(Self.bulk)
                    return .data(Data("*2\r\n".utf8) + fields[0] + fields[1], ends: false)
                case "GETRANGE": return .data(Self.bulk(body), ends: false)
                case "EVALSHA" where command.count == Self.remove:
                    _ = cache.withLock { $0 }?.bodies()  // a lookup of another thread
                    isRemoved.withLock { $0 = true }
                    return .bytes(":1\r\n")
                default: return nil
                }
            }
            let connected = try await ValkeyURLCache.test(server.url).connected()
            cache.withLock { $0 = connected }
            defer { cache.withLock { $0 = nil } }
            #expect(connected.bodies() == [body])
            connected.remove(try #require(connected.entries(for: Sample.url).first))
            #expect(connected.bodies().isEmpty)
        }

        @Test(
            "each attempt of a removal has a number of its own, because other removals may lie between",
            arguments: [true, false])
        func attempts(ofEverything: Bool) async throws {
            let seen = Locked<[String]>([])
            let server = try FakeServer { command in
                guard command[0] == "EVALSHA", command.count == (ofEverything ? Self.begin : Self.invalidate) else {
                    return nil
                }
                let count = seen.withLock { seen in
                    seen.append(command[4])
                    return seen.count
                }
                return .bytes(count < 3 ? ":0\r\n" : ":1\r\n")
            }
            let cache = try await ValkeyURLCache.test(server.url).connected()
            if ofEverything { cache.removeAll() } else { cache.removeEntries(for: Sample.url) }
            try await waitUntil("delivered") { cache.statistics.pendingRemovals == 0 }
            let numbers = seen.withLock { $0 }
            #expect(numbers.count == 3 && Set(numbers).count == 3)
            let (known, condition) = cache.level.coherence.withLock { coherence in
                (
                    coherence.generation,
                    coherence.storeCondition(URLDigest.key(Sample.url), requested: .distantFuture, at: .distantFuture)
                )
            }
            #expect(ofEverything ? known == numbers.last : condition == .expecting(numbers.last))
        }

        @Test("a removal during a store on the main thread is not undone by a second attempt of the store")
        @MainActor func removalDuringStore() async throws {
            let (cache, stores) = (Locked<ValkeyURLCache?>(nil), Locked(0))
            let server = try FakeServer { command in
                guard command[0] == "EVALSHA", command.count == Self.store else { return nil }
                stores.withLock { $0 += 1 }
                cache.withLock { $0 }?.level.coherence.withLock {
                    $0.noteOwnRemoval(URLDigest.key(Sample.url), token: "0123456789abcdef")  // reaches the server first
                }
                return .bytes(":-1\r\n")
            }
            let connected = try await ValkeyURLCache.test(server.url).connected()
            connected.level.coherence.withLock { $0.noteOwnRemoval(URLDigest.key(Sample.url), token: "old") }
            cache.withLock { $0 = connected }
            defer { cache.withLock { $0 = nil } }
            let request = URLRequest(url: try #require(URL(string: Sample.url)))
            connected.storeCachedResponse(try Sample.cached(Sample.body(5)), for: request)
            connected.flush()
            #expect(stores.withLock { $0 } == 1)
        }

        @Test("a removal that a store learns of counts as later than all requests before that")
        func learnedRemoval() async throws {
            let clock = ManualClock()
            let server = try FakeServer { command in
                if command[0] == "HGETALL" { clock.advance(by: 10) }
                return nil
            }
            let cache = try await ValkeyURLCache.test(server.url, time: clock).connected()
            let request = URLRequest(url: try #require(URL(string: Sample.url)))
            cache.storeCachedResponse(try Sample.cached(Sample.body(5)), for: request)
            let (now, key) = (clock.now, URLDigest.key(Sample.url))
            let fences = [-5, 0].map { seconds in
                cache.level.coherence.withLock { $0.storeCondition(key, requested: now + seconds, at: now) }
            }
            #expect(fences == [.refused, .expecting("")])
        }
    }
#endif
