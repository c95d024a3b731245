/*:
 # Your Own Resource

 *For developers who load a format of their own.* Without Xcode, run `swift run YourOwnResource`.

 A resource has a request and a parse. Everything else works as for images: caching, coalescing, cancelling, priorities.
 This one is a table of comma-separated values.
 */
import Foundation
import ScriptedServer
import Synchronizer

let server = try ScriptedServer()
server["/planets.csv"] = Reply("planet,moons\nEarth,1\nMars,2\nJupiter,97\n", fields: ["Cache-Control": "max-age=60"])
let url = server.url("/planets.csv")
/*:
 `parse` runs on a background thread, with the whole body, which is never empty. Its errors reach the caller.
 */
struct Table: Resource {
    struct NoColumn: Error {
        let name: String
    }

    let url: URL
    let column: String

    func request() -> URLRequest {
        var request = URLRequest(url: url)
        request.setValue("text/csv", forHTTPHeaderField: "Accept")
        return request
    }

    var parse: @Sendable (Data) throws -> [String] {
        { [column] data in
            let rows = String(decoding: data, as: UTF8.self).split(separator: "\n").map { $0.split(separator: ",") }
            guard let index = rows.first?.firstIndex(where: { $0 == column }) else { throw NoColumn(name: column) }
            return rows.dropFirst().compactMap { $0.indices.contains(index) ? String($0[index]) : nil }
        }
    }

    /// Two columns of one table share the request, but are two objects.
    var variant: ResourceVariant { ResourceVariant(column) }
}

let synchronizer = Synchronizer(urlCache: SQLiteURLCache(memoryCapacity: 1 << 20, diskCapacity: 0))
async let planets = synchronizer.load(Table(url: url, column: "planet"))
async let moons = synchronizer.load(Table(url: url, column: "moons"))
for (planet, count) in zip(try await planets, try await moons) { print("\(planet): \(count)") }
print("The server received \(server.counts.requests) request(s) for both columns.")
/*:
 The error contains the one that the parse threw.
 */
do {
    _ = try await synchronizer.load(Table(url: url, column: "rings"))
} catch let error as SynchronizerError {
    print("\nThe table has no column “\((error.underlyingError as? Table.NoColumn)?.name ?? "?")”.")
}
//: [Next: Inside the Cache](@next)
