#if Valkey
    import Foundation
    import TestSupport
    import TestTraits
    import Testing

    @testable import ValkeyCache

    @Suite("A cluster in which the node of the URL can't be used", .bounded)
    struct NodeFailureTests {
        private static let urls = (0..<20).map { "https://example.com/\($0)" }

        /// How a node that is down answers.
        enum Outage: CaseIterable {
            /// It refuses connections.
            case gone
            /// It has started, and does not reach the other nodes yet.
            case alone
            /// It has lost the other nodes, and still answers on connections for announcements.
            case isolated

            func answer(to command: [String]) -> FakeServer.Answer? {
                switch self {
                case .gone: .cut("")
                case .isolated where ["PING", "SUBSCRIBE", "SCRIPT"].contains(command[0]): nil
                case .alone, .isolated: .bytes("-CLUSTERDOWN The cluster is down\r\n")
                }
            }
        }

        /// A cluster of fake nodes, of which the second has all slots.
        private final class Cluster: Sendable {
            private let outage = Locked<Outage?>(nil)
            private let main: Locked<FakeServer?>
            let other: FakeServer
            let asked = Locked(0)
            let subscriptions: Locked<Int>
            let url: String

            init() throws {
                let (asked, outage, subscriptions) = (asked, outage, Locked(0))
                let other = try FakeServer { command in
                    if command[0] == "SUBSCRIBE" { subscriptions.withLock { $0 += 1 } }
                    return nil
                }
                let main = try FakeServer { command in
                    if let outage = outage.withLock({ $0 }) { return outage.answer(to: command) }
                    guard ["HGETALL", "GETRANGE", "GET"].contains(command[0]) else { return nil }
                    asked.withLock { $0 += 1 }
                    return .bytes("-MOVED \(ClusterSlot.of(command[1])) 127.0.0.1:\(other.port)\r\n")
                }
                (self.other, self.subscriptions, url) = (other, subscriptions, "redis://127.0.0.1:\(main.port)")
                self.main = Locked(main)
            }

            func begin(_ outage: Outage) {
                self.outage.withLock { $0 = outage }
                if outage == .gone { main.withLock { $0 = nil } }
            }
        }

        @Test("the other nodes tell where the slots are", arguments: Outage.allCases)
        func lookups(_ outage: Outage) throws {
            let cluster = try Cluster()
            let lines = Lines()
            let server = SharedServer(try ServerAddress(cluster.url), limit: 60) { lines.add($0) }
            server.didResolve(try server.connect(within: 60).endpoint)
            let lookup = { (url: String) in try server.run([Command(["HGETALL", url], key: url)]) }
            #expect(try lookup("first") == [.array([])])
            cluster.begin(outage)
            // A connection ends during a call: the node may have run its commands.
            if outage == .gone { #expect(throws: LinkFailure.closed) { try lookup("unlucky") } }
            for url in Self.urls { #expect(try lookup(url) == [.array([])]) }
            #expect(server.failures == (outage == .gone ? 1 : 0) && !server.isPausing)
            #expect(cluster.asked.withLock { $0 } == 1)
            #expect(lines.all.count == 1 && lines.all[0].contains("node"), "\(lines.all)")
            server.close()
        }

        @Test("another node announces the changes", arguments: Outage.allCases)
        func announcements(_ outage: Outage) async throws {
            let cluster = try Cluster()
            let cache = try await ValkeyURLCache.test(cluster.url).connected()
            #expect(cache.bodies().isEmpty && cluster.subscriptions.withLock { $0 } == 0)
            cluster.begin(outage)
            try await waitUntil("connected to another node") { cluster.subscriptions.withLock { $0 } > 0 }
            _ = try await cache.connected()
            for url in Self.urls { #expect(cache.bodies(url).isEmpty) }
            #expect(!cache.level.server.isPausing)
        }
    }
#endif
