// Fills a cache, lists its entries, and removes the large ones.
import Foundation
import Synchronizer

@main
struct InspectCache {
    static func main() async throws {
        let arguments = CommandLine.arguments.dropFirst()
        guard let directory = arguments.first, arguments.count > 1 else {
            print("Usage: InspectCache DIRECTORY URL…")
            exit(2)
        }
        let cache = SQLiteURLCache(
            memoryCapacity: 1 << 20, diskCapacity: 100 << 20, directory: URL(fileURLWithPath: directory))
        let synchronizer = Synchronizer(urlCache: cache)
        let resources = arguments.dropFirst().compactMap(URL.init(string:)).map { DataResource(url: $0) }
        _ = await synchronizer.prefetch(resources, to: .disk).result

        for await entry in cache.entries {
            let name = URL(string: entry.url)?.lastPathComponent ?? entry.url
            let lifetime = entry.remainingLifetime()
            let state = lifetime > 0 ? "fresh for \(Int((lifetime / 60).rounded())) min" : "stale"
            let type = entry.value(forHTTPHeaderField: "Content-Type") ?? "?"
            print("\(name): \(entry.size) bytes, \(type), \(state)")
            if entry.size > 100_000, let url = URL(string: entry.url) {
                cache.removeCachedResponse(for: URLRequest(url: url))
            }
        }
        let statistics = cache.statistics
        print("\(statistics.entries) left")
    }
}
