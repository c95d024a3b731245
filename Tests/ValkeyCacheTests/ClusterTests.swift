#if Valkey
    import Foundation
    import TestSupport
    import Testing

    @testable import ValkeyCache

    @Suite("A cluster of three servers", .bounded, .enabled(if: RedisServer.isInstalled))
    struct ClusterTests {
        private struct Node {
            let server: RedisServer
            let port: Int
            let busPort: Int
            var url: String { "redis://127.0.0.1:\(port)" }
            func id() throws -> String { try #require(try server.run("CLUSTER", "MYID").text) }

            func keys(of slot: Int) throws -> [String] {
                let reply = try server.run("CLUSTER", "GETKEYSINSLOT", "\(slot)", "100")
                return try #require(reply.array).compactMap(\.text)
            }
        }

        private let nodes: [Node]

        init() async throws {
            var nodes: [Node] = []
            for _ in 0..<3 {
                let (server, port, busPort) = try RedisServer.onNetwork(isCluster: true)
                nodes.append(Node(server: server, port: port, busPort: busPort))
            }
            self.nodes = nodes
            for (node, slots) in zip(nodes, [(0, 5460), (5461, 10_922), (10_923, 16_383)]) {
                try node.server.run("CLUSTER", "ADDSLOTSRANGE", "\(slots.0)", "\(slots.1)")
                try node.server.run("CLUSTER", "MEET", "127.0.0.1", "\(nodes[0].port)", "\(nodes[0].busPort)")
            }
            for node in nodes {
                try await waitUntil("it knows all nodes and slots") {
                    let info = (try? node.server.run("CLUSTER", "INFO"))?.text ?? ""
                    return info.contains("cluster_state:ok") && info.contains("cluster_slots_ok:16384")
                        && info.contains("cluster_known_nodes:3")
                }
            }
        }

        private func pair() async throws -> (ValkeyURLCache, ValkeyURLCache) {
            let one = try await ValkeyURLCache.test(nodes[0].url).connected()
            return (one, try await ValkeyURLCache.test(nodes[2].url).connected())
        }

        @Test("machines that know different nodes share responses, removals and leases of all slots")
        func sharing() async throws {
            let (one, other) = try await pair()
            let urls = (0..<60).map { "https://example.com/\($0)" }
            for (number, url) in urls.enumerated() { try one.put(Sample.body(500 * number), url: url) }
            for (number, url) in urls.enumerated() { #expect(other.bodies(url) == [Sample.body(500 * number)]) }
            let counts = try nodes.map { try #require(try $0.server.run("DBSIZE").number) }
            #expect(counts.allSatisfy { $0 > 10 })
            for url in urls.prefix(20) { other.removeEntries(for: url) }
            // The servers pass announcements on to each other, in no particular order.
            try await waitUntil("removed") { urls.prefix(20).allSatisfy { one.bodies($0).isEmpty } }
            for key in urls {
                guard case .granted(let lease) = one.lease(key, for: 600) else {
                    throw LinkFailure.malformed("no lease")
                }
                #expect(other.lease(key, for: 600) == .held)
                one.release(lease)
            }
            one.removeAll()
            try await waitUntil("removed") { urls.allSatisfy { other.bodies($0).isEmpty } }
            #expect(one.statistics.failures == 0 && other.statistics.failures == 0)
        }

        @Test("an inspection that knows one server reads the entries of all")
        func inspection() async throws {
            let (one, other) = try await pair()
            let urls = (0..<40).map { "https://example.com/\($0)" }
            for url in urls { try one.put(Sample.body(700), url: url) }
            let inspection = try SharedInspection(nodes[1].url, namespace: nil)
            let contents = try inspection.contents()
            #expect(Set(contents.entries.map(\.entry.response.url)) == Set(urls) && contents.corrupt == 0)
            for entry in contents.entries { #expect(try inspection.isIntact(entry) == true) }
            other.removeAll()
            #expect(try SharedInspection(nodes[1].url, namespace: "test").contents().entries.isEmpty)
        }

        @Test("responses are found and stored while their slot moves to another server, and afterwards")
        func movingSlot() async throws {
            let (one, other) = try await pair()
            try one.put(Sample.body(3000))
            let slot = ClusterSlot.of("{\(URLDigest(Sample.url).text)}")
            let owner = min(slot / 5461, 2)
            let (source, target) = (nodes[owner], nodes[(owner + 1) % 3])
            try target.server.run("CLUSTER", "SETSLOT", "\(slot)", "IMPORTING", try source.id())
            try source.server.run("CLUSTER", "SETSLOT", "\(slot)", "MIGRATING", try target.id())
            #expect(other.bodies() == [Sample.body(3000)])
            for key in try source.keys(of: slot) {
                try source.server.run("MIGRATE", "127.0.0.1", "\(target.port)", key, "0", "60000")
            }
            let fresh = try await ValkeyURLCache.test(nodes[1].url).connected()
            #expect(fresh.bodies() == [Sample.body(3000)])
            try other.put(Sample.body(4000))
            try await waitUntil("replaced") { one.bodies() == [Sample.body(4000)] }
            for node in [target, source] {
                try node.server.run("CLUSTER", "SETSLOT", "\(slot)", "NODE", try target.id())
            }
            let last = try await ValkeyURLCache.test(source.url).connected()
            #expect(last.bodies() == [Sample.body(4000)])
            try last.put(Sample.body(5000))
            try await waitUntil("replaced") { one.bodies() == [Sample.body(5000)] }
            for cache in [one, other, fresh, last] { #expect(cache.statistics.failures == 0) }
        }
    }
#endif
