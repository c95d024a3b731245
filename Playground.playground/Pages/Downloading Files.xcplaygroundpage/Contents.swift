/*:
 # Downloading Files

 *For developers who load files that are too large for memory.* Without Xcode, run `swift run DownloadingFiles`.

 A `FileResource` loads into a file. The body of the response is written to the disk while it arrives.
 */
import Foundation
import ScriptedServer
import Synchronizer

let server = try ScriptedServer()
let folder = FileManager.default.temporaryDirectory.appendingPathComponent("playground-\(UUID().uuidString)")
try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
let cache = SQLiteURLCache(
    memoryCapacity: 0, diskCapacity: 100 << 20, directory: folder.appendingPathComponent("cache"))
var configuration = Synchronizer.Configuration(urlCache: cache)
configuration.caching = .managed  // Apple platforms default to `.native`, which does not resume downloads
configuration.retry.maximumAttempts = 1  // so that you see the failure
let synchronizer = Synchronizer(configuration: configuration)
/*:
 This server breaks the connection after a megabyte, once. The response has a strong `ETag`, so a download can go on where it
 stopped.
 */
let film = Data(repeating: 7, count: 3_000_000)
let reply = Reply(film, fields: ["ETag": "\"1\"", "Cache-Control": "max-age=60"]).ranged()
server.enqueue(reply.failing(.close(.afterBody(1_000_000))), reply, for: "/film")
let url = server.url("/film")
let destination = folder.appendingPathComponent("film")
do {
    _ = try await synchronizer.load(FileResource(url: url, to: destination))
} catch {
    print("The first try fails: \(error)")
}
print("There is \(FileManager.default.fileExists(atPath: destination.path) ? "a" : "no") file at the destination.")
/*:
 The next load requests only the rest, also in the next launch of your app. The trace says how many bytes it did not have to
 load again.
 */
let second = try await synchronizer.loaded(FileResource(url: url, to: destination))
print("\nThe second try sends Range: \(server.requests.last?["Range"] ?? "none").")
print("It receives \(second.trace.bytesReceived) bytes and saves \(second.trace.bytesSaved).")
print("The file is", try Data(contentsOf: destination) == film ? "whole." : "wrong!")
/*:
 The response is in the cache now. Another file of it is a clone, a link or a copy.
 */
let copy = try await synchronizer.loaded(FileResource(url: url, to: folder.appendingPathComponent("copy")))
print("\nThe copy comes from \(copy.source). The server has received \(server.counts.requests) requests.")
/*:
 A destination that can't be written is an error before anything is sent.
 */
do {
    _ = try await synchronizer.load(FileResource(url: server.url("/other"), to: folder))
} catch SynchronizerError.file(let error, _) {
    print("\n\(error.reason == .isDirectory ? "The destination is a directory." : error.description)")
}
/*:
 A `StreamingResource` is parsed while its bytes arrive, and its body is not held in memory either. This one adds up
 a column of numbers.
 */
struct Sum: StreamParser {
    private var line = ""
    private var sum = 0

    mutating func parse(_ bytes: Data) {
        line += String(decoding: bytes, as: UTF8.self)
        while let end = line.firstIndex(of: "\n") {
            sum += Int(line[..<end]) ?? 0
            line.removeSubrange(...end)
        }
    }

    func finish() -> Int { sum + (Int(line) ?? 0) }  // the last line may have no end
}

struct Column: StreamingResource {
    let url: URL
    func request() -> URLRequest { URLRequest(url: url) }
    func makeParser() -> Sum { Sum() }
}

server["/numbers"] = Reply((1...100).map { "\($0)\n" }.joined())
print("\nThe sum is \(try await synchronizer.load(Column(url: server.url("/numbers")))).")
cache.flush()  // the cache stores the last response in the background
try FileManager.default.removeItem(at: folder)
//: [Next: Cancelling Off Screen](@next)
