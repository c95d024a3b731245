import Foundation
import Synchronizer
import SynchronizerSupport
import SynchronizerTesting

/// How long an invalidation on one machine takes until another machine does not use the response any more.
enum Invalidations {
    private static let rounds = 200

    /// Prints milliseconds: of each kind the median and the 99th percentile.
    static func printTable(server: String, directory: String) async throws {
        let origin = try ScriptedServer()
        let machines = try ["1", "2"].map { name in
            var configuration = Synchronizer.Configuration(
                urlCache: try makeCache(directory + "/" + name, server: server))
            configuration.caching = .managed
            return Synchronizer(configuration: configuration)
        }
        let kinds: [(String, @Sendable (URL) async throws -> Void)] = [
            ("invalidate", { [one = machines[0]] in one.invalidate(DataResource(url: $0)) }),
            (
                "unsafe method",
                { [one = machines[0]] url in
                    var request = URLRequest(url: url)
                    request.httpMethod = "POST"
                    _ = try await one.load(EmptyResource(request: request))
                }
            ),
            ("removeAll", { [one = machines[0]] _ in one.removeAll() }),
        ]
        var table: [String: [Double]] = [:]
        for (kind, invalidate) in kinds {
            var times: [Double] = []
            for round in 0..<rounds {
                let url = origin.url("/\(kind.count)/\(round)")
                origin.handle("/\(kind.count)/\(round)") { _ in Reply("x", fields: ["Cache-Control": "max-age=600"]) }
                for machine in machines { _ = try await machine.load(DataResource(url: url)) }
                let start = DispatchTime.now().uptimeNanoseconds
                try await invalidate(url)
                while machines[1].cachedObject(for: DataResource(url: url)) != nil { usleep(100) }
                times.append(Double(DispatchTime.now().uptimeNanoseconds - start) / 1e6)
            }
            times.sort()
            table[kind] = [times[rounds / 2], times[rounds * 99 / 100]]
        }
        say(String(decoding: try JSONEncoder().encode(table), as: UTF8.self))
    }
}
