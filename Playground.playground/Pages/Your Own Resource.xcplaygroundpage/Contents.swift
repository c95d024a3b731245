/*:
 # Your Own Resource

 `swift run YourOwnResource` runs this page where there is no Xcode.

 A resource says what to ask for, and what to make out of the bytes. Everything else is the same for all: caching,
 sharing, cancelling, priorities. Here it is a table of comma-separated values.
 */
import Foundation
import ScriptedServer
import Synchronizer

let server = try ScriptedServer()
server["/planets.csv"] = Reply("planet,moons\nEarth,1\nMars,2\nJupiter,97\n", fields: ["Cache-Control": "max-age=60"])
let url = server.url("/planets.csv")
/*:
 `parse` is called on a background thread with the whole body, which is never empty. What it throws reaches whoever
 asked for the resource.
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

    /// Two columns of one table share the request, and are two objects.
    var variant: ResourceVariant { ResourceVariant(column) }
}

let synchronizer = Synchronizer(urlCache: SQLiteURLCache(memoryCapacity: 1 << 20, diskCapacity: 0))
async let planets = synchronizer.load(Table(url: url, column: "planet"))
async let moons = synchronizer.load(Table(url: url, column: "moons"))
for (planet, count) in zip(try await planets, try await moons) { print("\(planet): \(count)") }
print("The server was asked \(server.counts.requests) time(s) for both columns.")
/*:
 What the parse throws is inside of the error.
 */
do {
    _ = try await synchronizer.load(Table(url: url, column: "rings"))
} catch let error as SynchronizerError {
    print("\nThe table has no column “\((error.underlyingError as? Table.NoColumn)?.name ?? "?")”.")
}
//: [Next: Inside the Cache](@next)
