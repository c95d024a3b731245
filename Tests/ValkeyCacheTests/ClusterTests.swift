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

        @Test("a process notices that the server whose announcements it follows has lost its cluster")
        func isolation() async throws {
            let cache = try await ValkeyURLCache.test(nodes[0].url).connected()
            // Without one of its slots, the server stops at once. A server that loses the others needs seconds to find out.
            try nodes[0].server.run("CLUSTER", "DELSLOTS", "0")
            let channel = cache.level.keys.changes
            try await waitUntil("noticed") {
                (try? nodes[0].server.run("PUBSUB", "NUMSUB", channel))?.array?.last == .number(0)
            }
            try nodes[0].server.run("CLUSTER", "ADDSLOTS", "0")
            _ = try await cache.connected()
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

        @Test("when a replica of the server in the URL takes over, machines share responses and removals again")
        func failover() async throws {
            let (server, port, busPort) = try RedisServer.onNetwork(isCluster: true)
            let replica = Node(server: server, port: port, busPort: busPort)
            try server.run("CLUSTER", "MEET", "127.0.0.1", "\(nodes[0].port)", "\(nodes[0].busPort)")
            let main = try nodes[0].id()
            try await waitUntil("it is a replica") {
                (try? server.run("CLUSTER", "REPLICATE", main)) == .status("OK")
            }
            try await waitUntil("it has the data") {
                (try? server.run("INFO", "replication"))?.text?.contains("master_link_status:up") == true
            }
            let caches = try [0, 1].map { _ in try ValkeyURLCache.test(nodes[0].url) }
            let (one, other) = (try await caches[0].connected(), try await caches[1].connected())
            let urls = (0..<60).map { "https://example.com/\($0)" }
            for url in urls { try one.put(Sample.body(5), url: url) }
            for url in urls { #expect(other.bodies(url) == [Sample.body(5)]) }  // so both know all nodes

            nodes[0].server.stop()
            let address = "127.0.0.1:\(replica.port)"
            for node in nodes[1...] {
                try await waitUntil("it knows the replica") {
                    (try? node.server.run("CLUSTER", "NODES"))?.text?.contains(address) == true
                }
            }
            try server.run("CLUSTER", "FAILOVER", "TAKEOVER")
            for node in nodes[1...] {
                try await waitUntil("it knows that the replica has taken over") {
                    let line = (try? node.server.run("CLUSTER", "NODES"))?.text?.split(separator: "\n")
                        .first { $0.contains(address) }
                    return line?.contains(" 0-5460") == true
                }
            }
            let channel = one.level.keys.changes
            try await waitUntil("other nodes announce changes to both") {
                let replies = (nodes[1...] + [replica]).map { try? $0.server.run("PUBSUB", "NUMSUB", channel) }
                return replies.reduce(0) { $0 + ($1?.array?.last?.number ?? 0) } == 2
            }
            _ = (try await one.connected(), try await other.connected())
            let (failures, new) = (one.statistics.failures + other.statistics.failures, urls.map { $0 + "/new" })
            for url in new { try one.put(Sample.body(6), url: url) }
            for url in new { #expect(other.bodies(url) == [Sample.body(6)]) }
            for url in new { one.removeEntries(for: url) }
            try await waitUntil("removed") { new.allSatisfy { other.bodies($0).isEmpty } }
            #expect(one.statistics.failures + other.statistics.failures == failures)
            #expect(one.statistics.pendingRemovals == 0)
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
