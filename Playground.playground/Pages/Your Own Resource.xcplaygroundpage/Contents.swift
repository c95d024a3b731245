/*:
 # Your Own Resource

 *For developers who load a format of their own.* Without Xcode, run `swift run YourOwnResource`.

 A resource describes a request, and how to parse its response. Everything else works as for images: caching, coalescing, cancelling, priorities.
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
/*:
 If parsing takes long, the next launch can do without it. The object of a `DerivedResource` is stored next to its response,
 by default if its parse took a millisecond or more. It belongs to the bytes that it was made from. This page plays two
 launches with one folder, which it removes at the end.
 */
extension Table: DerivedResource {
    static let encodingVersion = "1"
    func encode(_ cells: [String]) -> Data? { try? JSONEncoder().encode(cells) }
    func decode(_ data: Data) throws -> [String] { try JSONDecoder().decode([String].self, from: data) }
}

let folder = FileManager.default.temporaryDirectory.appendingPathComponent("playground-\(UUID().uuidString)")
let disk = SQLiteURLCache(memoryCapacity: 0, diskCapacity: 20 << 20, directory: folder)
for launch in ["first", "second"] {
    var configuration = Synchronizer.Configuration(urlCache: disk)
    configuration.caching = .managed  // Apple platforms default to `.native`, which stores no objects
    configuration.derivedObjects?.minimumParseTime = 0  // this table is parsed faster
    let loaded = try await Synchronizer(configuration: configuration).loaded(Table(url: url, column: "planet"))
    print("\nThe \(launch) launch: \(loaded.object), \(loaded.trace.isDerived ? "read as stored" : "parsed").")
    // It is stored after you have it.
    for _ in 0..<50 where disk.statistics.entries < 2 { try await Task.sleep(nanoseconds: 20_000_000) }
}
try FileManager.default.removeItem(at: folder)
//: [Next: Inside the Cache](@next)
