import Foundation
import ScriptedServer
import Synchronizer

/// The list of loads that each server serves, through `Synchronizer`.
struct OriginChecks {
    let origin: LoadList.Origin
    let list: LoadList
    let client: Client

    typealias Check = (name: String, run: @Sendable (OriginChecks) async throws -> Void)

    static let all: [Check] = [
        ("cold", { try await $0.expect("data.bin", .network) }),
        ("warm", { try await $0.expect("data.bin", .cache) }),
        ("revalidated", { try await $0.revalidated() }),
        ("ranged", { try await $0.ranged() }),
        ("coded", { try await $0.expect("text.txt", .network) }),
        ("cancelled", { try await $0.cancelled() }),
        ("uploaded", { try await $0.uploaded() }),
    ]

    init(_ origin: LoadList.Origin, _ list: LoadList) throws {
        (self.origin, self.list) = (origin, list)
        client = try Client(origin.options, list)
    }

    private func url(_ path: String) -> URL { origin.base.appendingPathComponent(path) }

    private func file(_ name: String) throws -> Data { try Data(contentsOf: list.content.appendingPathComponent(name)) }

    private func load(_ request: URLRequest) async throws -> Loaded<Data> {
        try await client.synchronizer.loaded(DataResource(request: request))
    }

    private func expect(_ name: String, _ source: LoadSource) async throws {
        client.synchronizer.removeAllObjects()
        let loaded = try await load(URLRequest(url: url(name)))
        guard loaded.object == (try file(name)) else { throw Unexpected("\(name)", "\(loaded.object.count) bytes") }
        guard loaded.source == source else { throw Unexpected("source", loaded.trace) }
        guard source == .network else { return }
        let network = loaded.trace.network
        guard network?.protocolName == origin.protocolName else { throw Unexpected("protocol", loaded.trace) }
    }

    private func revalidated() async throws {
        try await expect("check.bin", .network)
        try await expect("check.bin", .revalidated)
    }

    private func ranged() async throws {
        var request = URLRequest(url: url("data.bin"), cachePolicy: .reloadIgnoringLocalCacheData)
        request.setValue("bytes=100-299", forHTTPHeaderField: "Range")
        let part = try await load(request).object
        let expected = try file("data.bin").dropFirst(100).prefix(200)
        guard part == expected else { throw Unexpected("part", "\(part.count) bytes") }
    }

    /// Cancels in the middle of a large body; the next load is whole.
    private func cancelled() async throws {
        let received = Observed(false)
        let (synchronizer, resource) = (client.synchronizer, DataResource(url: url("large.bin")))
        let task = await MainActor.run {
            synchronizer.startLoading(resource) { _ in received.update { $0 = true } }
        }
        for await progress in task.progressUpdates where progress.received > 0 { break }
        task.cancel()
        guard !received.read({ $0 }) else { throw Unexpected("cancelled", "it ended before") }
        synchronizer.removeAll()
        try await expect("data.bin", .network)
    }

    private func uploaded() async throws {
        var request = URLRequest(url: url("cgi/echo"))
        request.httpMethod = "POST"
        let body = Data((0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 * 7 >> 3) })
        request.httpBody = body
        let echo = try await load(request).object
        guard echo == body else { throw Unexpected("echo", "\(echo.count) bytes") }
    }
}
