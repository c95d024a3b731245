import CurlSession
import Foundation
import FoundationNetworking
import ScriptedServer
import TestSupport
import TestTraits
import Testing

@Suite(.bounded) struct TLSTests {
    /// What fails, and how.
    struct Case: Sendable, CustomTestStringConvertible {
        var failure: TLSFailure
        var code: URLError.Code
        var relay: @Sendable (inout TLSRelay.Options) -> Void = { _ in }
        var client: @Sendable (inout TLSConfiguration) -> Void = { _ in }
        var testDescription: String { failure.rawValue }
    }

    static let cases = [
        Case(failure: .expired, code: .serverCertificateHasBadDate, relay: { $0.certificate = .expired }),
        Case(failure: .notYetValid, code: .serverCertificateNotYetValid, relay: { $0.certificate = .notYetValid }),
        Case(failure: .wrongHost, code: .serverCertificateUntrusted, relay: { $0.certificate = .wrongHost }),
        Case(
            failure: .unknownAuthority, code: .serverCertificateHasUnknownRoot,
            relay: { $0.certificate = .unknownAuthority }),
        Case(failure: .selfSigned, code: .serverCertificateUntrusted, relay: { $0.certificate = .selfSigned }),
        Case(
            failure: .handshake, code: .secureConnectionFailed, relay: { $0.maximumVersion = .tls12 },
            client: { $0.minimumVersion = .tls13 }),
        Case(
            failure: .pinnedKey, code: .secureConnectionFailed,
            client: { $0.pinnedPublicKeys = ["127.0.0.1": ["AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="]] }),
        Case(
            failure: .clientCertificateRequired, code: .clientCertificateRequired,
            relay: { $0.wantsClientCertificate = true }),
        Case(
            failure: .clientCertificateRejected, code: .clientCertificateRejected,
            relay: { $0.wantsClientCertificate = true }, client: { $0.clientCertificate = .unknown }),
        Case(
            failure: .clientCertificateUnusable, code: .clientCertificateRejected,
            client: { $0.clientCertificate = .init(pkcs12: TestCertificate.client, password: "wrong") }),
        Case(
            failure: .authoritiesUnusable, code: .secureConnectionFailed,
            client: { $0.additionalAuthorities = "none" }),
    ]

    @Test(arguments: cases) func `each failure has its error, after one attempt`(_ item: Case) async throws {
        let error = try await Self.failure(item)
        #expect(error.code == item.code)
        #expect(error.tlsFailure == item.failure)
    }

    /// libcurl reports this alert of TLS 1.2 like the expired certificate of a server.
    @Test(arguments: [TLSConfiguration.Version.tls12, .tls13])
    func `a server refuses the client's certificate because it has expired`(version: TLSConfiguration.Version)
        async throws
    {
        let certificate = Data(TestCertificate.expired.text.utf8)
        let error = try await Self.failure(
            Case(
                failure: .clientCertificateRejected, code: .clientCertificateRejected,
                relay: { ($0.wantsClientCertificate, $0.maximumVersion) = (true, version) },
                client: { $0.clientCertificate = .init(pem: certificate, privateKey: certificate) }))
        #expect(error.tlsFailure == .clientCertificateRejected)
    }

    @Test func `no two failures are the same error`() async throws {
        var errors: [URLError] = []
        for item in Self.cases { errors.append(try await Self.failure(item)) }
        #expect(Set(errors.compactMap(\.tlsFailure)).count == Self.cases.count)
        #expect(Set(errors.map(\.localizedDescription)).count == Self.cases.count)
    }

    @Test func `a server that does not speak TLS is a handshake that failed`() async throws {
        let listener = try Descriptor.listening()
        let connections = Observed(0)
        Thread.detachNewThread {
            while let client = Descriptor.accepted(listener) {
                connections.update { $0 += 1 }
                _ = Descriptor.writeAll(client, Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8)[...])
                Descriptor.finish(client)
                close(client)
            }
            close(listener)
        }
        let url = try #require(URL(string: "https://127.0.0.1:\(Descriptor.port(of: listener))/"))
        let error = await #expect(throws: URLError.self) { try await Self.session().data(from: url) }
        #expect(error?.tlsFailure == .handshake)
        #expect(connections.read { $0 } == 1)
        shutdown(listener, Int32(SHUT_RDWR))
    }

    @Test func `a server that is trusted, pinned and trusts the client is loaded from`() async throws {
        let server = try ScriptedServer { _ in Reply("hello") }
        defer { server.stop() }
        let relay = try TLSRelay(to: server.port) { $0.wantsClientCertificate = true }
        let session = Self.session {
            $0.clientCertificate = .init(pkcs12: TestCertificate.client, password: "secret")
            $0.minimumVersion = .tls13
            $0.pinnedPublicKeys = [
                "LOCALHOST.": [TestCertificate.goodPin, "other"], "127.0.0.1": [TestCertificate.goodPin],
                "other.test": [],
            ]
        }
        for host in ["127.0.0.1", "localhost"] {
            #expect(try await session.data(from: relay.url(host: host)).0 == Data("hello".utf8))
        }
        #expect(relay.counts.handshakes == 2)
    }

    @Test(
        arguments: [
            ("Example.com", "example.com"), ("example.com.", "example.com"), ("example.com", "EXAMPLE.COM."),
            ("XN--bcher-kva.example", "xn--bcher-kva.example"), ("192.0.2.1", "192.0.2.1"),
        ])
    func `pins apply to a host however it is spelled`(pinned: String, host: String) {
        var tls = TLSConfiguration()
        tls.pinnedPublicKeys = [pinned: ["key"], "other.test": []]
        #expect(tls.pinsByHost[TLSConfiguration.canonical(host)] == ["key"])
    }

    @Test func `spellings of a host have their pins in common, and subdomains have none`() {
        var tls = TLSConfiguration()
        tls.pinnedPublicKeys = ["example.com": ["a"], "EXAMPLE.com": ["b"], "Example.com.": []]
        #expect(tls.pinsByHost == ["example.com": ["a", "b"]])
        #expect(tls.pinsByHost[TLSConfiguration.canonical("www.example.com")] == nil)
    }

    @Test(arguments: [5, 100_000]) func `one connection serves several requests`(size: Int) async throws {
        let server = try ScriptedServer { _ in Reply(Data(count: size)) }
        defer { server.stop() }
        let relay = try TLSRelay(to: server.port)
        let session = Self.session()
        for _ in 0..<3 { #expect(try await session.data(from: relay.url()).0.count == size) }
        #expect(relay.counts.connections == 1)
    }

    /// libcurl 7.88 accepts such responses. Surplus bytes that claim to be of HTTP/2 must not become the next response.
    @Test(arguments: ["HTTP/2 200", "HTTP/1.1 100 Continue\r\n\r\nHTTP/2 200"])
    func `a server that did not agree on HTTP/2 can't claim to speak it`(line: String) async throws {
        let server = try ScriptedServer()
        defer { server.stop() }
        server["/"] = .script(.text("\(line)\r\nContent-Length: 5\r\n\r\nhello"))
        let relay = try TLSRelay(to: server.port)
        for url in [server.url(), relay.url()] {
            let error = await #expect(throws: URLError.self) { try await Self.session().data(from: url) }
            #expect(error?.code == .badServerResponse)
        }
    }

    @Test func `without the additional authority the same server is not trusted`() async throws {
        let error = try await Self.failure(
            Case(failure: .unknownAuthority, code: .unknown, client: { $0.additionalAuthorities = nil }))
        #expect(error.tlsFailure == .unknownAuthority)
    }

    private static func session(_ change: (inout TLSConfiguration) -> Void = { _ in }) -> CurlSession {
        var options = CurlSession.Options()
        options.tls.additionalAuthorities = TestCertificate.authority.text
        change(&options.tls)
        return CurlSession(configuration: .ephemeral, delegate: nil, delegateQueue: nil, options: options)
    }

    private static func failure(_ item: Case) async throws -> URLError {
        let server = try ScriptedServer { _ in Reply("not to be seen") }
        defer { server.stop() }
        let relay = try TLSRelay(to: server.port, item.relay)
        let error = await #expect(throws: URLError.self) {
            try await session(item.client).data(from: relay.url())
        }
        #expect(server.requests.isEmpty)
        #expect(relay.counts.connections <= 1)
        return try #require(error)
    }
}

extension TLSConfiguration.ClientCertificate {
    /// A certificate that the relay does not trust.
    fileprivate static var unknown: Self {
        let both = Data(TestCertificate.unknownAuthority.text.utf8)
        return .init(pem: both, privateKey: both)
    }
}
