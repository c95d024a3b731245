#if !canImport(Darwin)
    import Foundation
    import ScriptedServer
    import Synchronizer
    import TestSupport
    import TestTraits
    import Testing

    /// A proxy that wants a credential before it opens a tunnel to a server.
    @Suite("A proxy's refusal to open a tunnel", .bounded)
    struct TunnelTests {
        private static let field = "Proxy-Authorization"
        /// It tries to speak for the server.
        private static let refusal = [
            "HTTP/1.1 407 No", "Proxy-Authenticate: Token realm=\"p\"", "Set-Cookie: a=b; Path=/",
            "Cache-Control: max-age=1000", "ETag: \"e\"", "Content-Length: 5", "", "hello",
        ].joined(separator: "\r\n")

        private let bench: Workbench
        private let relay: TLSRelay
        private let proxy: TunnelProxy
        /// What the proxy wants; nil for anything.
        private let wanted = Locked<String?>("new")

        init() throws {
            bench = try Workbench()
            relay = try TLSRelay(to: bench.server.port)
            let wanted = wanted
            proxy = try TunnelProxy(to: relay.port) { request in
                wanted.withLock { $0 == nil || $0 == request[Self.field] } ? nil : Self.refusal
            }
            bench.server["/x"] = Reply("hello", fields: ["Cache-Control": "max-age=1", "ETag": "\"e\""])
        }

        private var resource: DataResource { DataResource(url: relay.url("/x")) }

        private func synchronizer(
            cacheTime: TimeInterval? = nil, _ change: (inout Synchronizer.Configuration) -> Void = { _ in }
        ) -> Synchronizer {
            let proxies = proxy.dictionary()
            return bench.synchronizer(cacheTime: cacheTime) {
                $0.retry = RetryPolicy()
                $0.staleIfError = 1000
                $0.tls.additionalAuthorities = TestCertificate.authority.text
                $0.sessionConfiguration.connectionProxyDictionary = proxies
                change(&$0)
            }
        }

        private func refusal(of load: () async throws -> some Sendable) async -> SynchronizerError? {
            let error = await #expect(throws: SynchronizerError.self) { _ = try await load() }
            guard case .status(let response, _)? = error else {
                Issue.record("\(String(describing: error))")
                return nil
            }
            #expect(response.statusCode == 407)
            #expect(response.allHeaderFields.keys.map { "\($0)" } == ["Proxy-Authenticate"])
            return error
        }

        @Test("is answered by authenticate, whose Proxy-Authorization goes to the proxy alone")
        func authenticated() async throws {
            let calls = Collector<HTTPURLResponse>()
            let synchronizer = synchronizer {
                $0.authenticate = { request, response in
                    calls.append(response)
                    var request = request
                    request.setValue("new", forHTTPHeaderField: Self.field)
                    return request
                }
            }
            #expect(try await synchronizer.load(resource) == Data("hello".utf8))
            #expect(calls.elements.map(\.statusCode) == [407])
            #expect(calls.elements.first?.value(forHTTPHeaderField: "Proxy-Authenticate") == "Token realm=\"p\"")
            #expect(proxy.requests.map { $0[Self.field] } == [nil, "new"])
            #expect(bench.server.requests.map { $0[Self.field] } == [nil])
            #expect(bench.server.requests.map { $0["Cookie"] } == [nil])
        }

        @Test("is an error with the status 407 without a body, and is not retried")
        func refused() async throws {
            let synchronizer = synchronizer()
            let error = await refusal { try await synchronizer.load(resource) }
            #expect(error?.context.body?.isEmpty != false)
            #expect(error?.url == relay.url("/x"))
            #expect(proxy.requests.count == 1)
            #expect(bench.server.requests.isEmpty)
        }

        @Test("is not stored, and sets no cookie")
        func unstored() async throws {
            let synchronizer = synchronizer(cacheTime: 1000)
            for _ in 0..<2 { _ = await refusal { try await synchronizer.load(resource) } }
            #expect(proxy.requests.count == 2)
            wanted.withLock { $0 = nil }
            #expect(try await synchronizer.loaded(resource).source == .network)
            #expect(bench.server.requests.map { $0["Cookie"] } == [nil])
            #expect(bench.server.requests.map { $0["If-None-Match"] } == [nil])
        }

        @Test("does not freshen a stored response, and leaves it as it is")
        func validated() async throws {
            wanted.withLock { $0 = nil }
            bench.server["/x"] = bench.server["/x"]?.conditional().closing()
            let synchronizer = synchronizer()
            #expect(try await synchronizer.load(resource) == Data("hello".utf8))
            bench.clock.advance(by: 10)
            wanted.withLock { $0 = "new" }
            for _ in 0..<2 { _ = await refusal { try await synchronizer.load(resource) } }
            #expect(proxy.requests.count == 3)
            wanted.withLock { $0 = nil }
            #expect(try await synchronizer.load(resource) == Data("hello".utf8))
            #expect(bench.server.requests.map { $0["If-None-Match"] } == [nil, "\"e\""])
        }
    }
#endif
