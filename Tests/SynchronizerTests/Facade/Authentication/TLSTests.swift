#if !canImport(Darwin)
    import Foundation
    import ScriptedServer
    import Synchronizer
    import TestSupport
    import TestTraits
    import Testing

    @Suite("Failures of TLS", .bounded)
    struct TLSTests {
        /// A failure, and what the server does from then on.
        static let failures: [(TLSFailure, @Sendable (inout TLSRelay.Options) -> Void)] = [
            (.expired, { $0.certificate = .expired }), (.notYetValid, { $0.certificate = .notYetValid }),
            (.wrongHost, { $0.certificate = .wrongHost }), (.unknownAuthority, { $0.certificate = .unknownAuthority }),
            (.selfSigned, { $0.certificate = .selfSigned }), (.handshake, { $0.maximumVersion = .tls12 }),
            (.pinnedKey, { $0.certificate = .otherGood }),
            (.clientCertificateRequired, { $0.wantsClientCertificate = true }),
        ]

        private let bench: Workbench
        private let relay: TLSRelay

        init() throws {
            bench = try Workbench()
            bench.server["/a"] = Reply("old", fields: ["Cache-Control": "max-age=1, stale-if-error=1000"]).closing()
            relay = try TLSRelay(to: bench.server.port)
        }

        private func synchronizer() -> Synchronizer {
            bench.synchronizer {
                $0.retry = RetryPolicy()
                $0.tls.additionalAuthorities = TestCertificate.authority.text
                $0.tls.minimumVersion = .tls13
                $0.tls.pinnedPublicKeys = ["127.0.0.1": [TestCertificate.goodPin]]
            }
        }

        @Test("are reported as such, not retried, and not answered with a stale response", arguments: failures)
        func failure(failure: TLSFailure, change: @Sendable (inout TLSRelay.Options) -> Void) async throws {
            let (synchronizer, resource) = (synchronizer(), DataResource(url: relay.url("/a")))
            #expect(try await synchronizer.load(resource) == Data("old".utf8))
            bench.clock.advance(by: 10)
            relay.change(change)
            let error = await #expect(throws: SynchronizerError.self) { try await synchronizer.load(resource) }
            guard case .transport(let cause as URLError, _) = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(cause.tlsFailure == failure)
            #expect(relay.counts.connections == 2)
        }

        @Test("are not answered with a stale response, as an unreachable server is")
        func unreachable() async throws {
            let (synchronizer, resource) = (synchronizer(), DataResource(url: relay.url("/a")))
            #expect(try await synchronizer.load(resource) == Data("old".utf8))
            bench.clock.advance(by: 10)
            bench.server.stop()
            #expect(try await synchronizer.loaded(resource).source == .stale)
        }
    }
#endif
