import CurlSession
import Foundation
import FoundationNetworking

/// The list of loads that each server serves, through a `CurlSession` without the library on top.
struct SessionChecks {
    private let origin: LoadList.Origin
    private let list: LoadList
    private let session: CurlSession

    typealias Check = (name: String, run: @Sendable (SessionChecks) async throws -> Void)

    static let all: [Check] = [
        ("session: cold", { try await $0.cold() }), ("conditional", { try await $0.conditional() }),
        ("ranged", { try await $0.ranged() }), ("cancelled", { try await $0.cancelled() }),
        ("uploaded", { try await $0.uploaded() }),
    ]

    init(_ origin: LoadList.Origin, _ list: LoadList) {
        (self.origin, self.list) = (origin, list)
        var options = CurlSession.Options()
        options.tls.additionalAuthorities = list.authority
        session = CurlSession(
            configuration: Client.session(origin.options), delegate: nil, delegateQueue: nil, options: options)
    }

    private func request(_ path: String) -> URLRequest { URLRequest(url: origin.base.appendingPathComponent(path)) }

    private func file(_ name: String) throws -> Data { try Data(contentsOf: list.content.appendingPathComponent(name)) }

    private func load(_ request: URLRequest, status: Int = 200) async throws -> (data: Data, response: HTTPURLResponse)
    {
        let (data, response) = try await session.data(for: request)
        guard let response = response as? HTTPURLResponse, response.statusCode == status else {
            throw Unexpected("status", response)
        }
        return (data, response)
    }

    private func cold() async throws {
        for name in ["data.bin", "text.txt"] {
            let data = try await load(request(name)).data
            guard data == (try file(name)) else { throw Unexpected(name, "\(data.count) bytes") }
        }
    }

    private func conditional() async throws {
        let tag = try await load(request("data.bin")).response.value(forHTTPHeaderField: "ETag")
        guard let tag else { throw Unexpected("ETag", "none") }
        var request = request("data.bin")
        request.setValue(tag, forHTTPHeaderField: "If-None-Match")
        let data = try await load(request, status: 304).data
        guard data.isEmpty else { throw Unexpected("body of 304", "\(data.count) bytes") }
    }

    private func ranged() async throws {
        var request = request("data.bin")
        request.setValue("bytes=100-299", forHTTPHeaderField: "Range")
        let part = try await load(request, status: 206).data
        guard part == (try file("data.bin").dropFirst(100).prefix(200)) else {
            throw Unexpected("part", "\(part.count) bytes")
        }
    }

    private func cancelled() async throws {
        let (session, request) = (session, request("large.bin"))
        let load = Task { try await session.data(for: request) }
        load.cancel()
        guard let error = await failure(of: { _ = try await load.value }) else {
            throw Unexpected("cancelled", "ended")
        }
        guard error is CancellationError || (error as? URLError)?.code == .cancelled else {
            throw Unexpected("cancelled", error)
        }
        try await cold()
    }

    private func uploaded() async throws {
        var request = request("cgi/echo")
        request.httpMethod = "POST"
        let body = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 * 5 >> 3) })
        request.httpBody = body
        let echo = try await load(request).data
        guard echo == body else { throw Unexpected("echo", "\(echo.count) bytes") }
    }
}
