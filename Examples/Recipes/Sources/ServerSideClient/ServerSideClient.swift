// A service that asks another one: it bounds time and connections, coalesces equal requests, and answers with what it has
// while the other service is down.
import Foundation
import Synchronizer

struct Price: Decodable {
    let product: String
    let cents: Int
}

struct PriceService: Sendable {
    private let synchronizer: Synchronizer
    private let base: URL

    init(base: URL) {
        // In memory: instances of a service share no disk.
        var configuration = Synchronizer.Configuration(
            urlCache: SQLiteURLCache(memoryCapacity: 64 << 20, diskCapacity: 0))
        configuration.caching = .managed
        configuration.timeoutForLoad = 2
        configuration.maximumLoadsPerHost = 32
        configuration.retry.totalTime = 1
        configuration.staleIfError = 10 * 60
        synchronizer = Synchronizer(configuration: configuration)
        self.base = base
    }

    func price(of product: String) async throws -> Price {
        let url = base.appendingPathComponent("prices").appendingPathComponent(product)
        return try await synchronizer.load(JSONResource<Price>(url: url))
    }
}

@main
struct ServerSideClient {
    static func main() async throws {
        guard let url = CommandLine.arguments.dropFirst().first.flatMap(URL.init(string:)) else {
            print("Usage: ServerSideClient URL-OF-SERVICE")
            exit(2)
        }
        let service = PriceService(base: url)
        // A hundred customers ask at once. One request per product is sent.
        let total = try await withThrowingTaskGroup(of: Int.self) { group in
            for customer in 0..<100 {
                group.addTask { try await service.price(of: customer.isMultiple(of: 2) ? "tea" : "cup").cents }
            }
            var total = 0
            while let cents = try await group.next() { total += cents }
            return total
        }
        print("\(total) cents")
    }
}
