// What the recipes load from: a server on the loopback interface. It prints its port, and serves until its input ends.
import Foundation
import SynchronizerTesting

@main
struct RecipeServer {
    static func main() throws {
        guard let folder = CommandLine.arguments.dropFirst().first.map(URL.init(fileURLWithPath:)) else {
            print("Usage: RecipeServer FOLDER-OF-PHOTOGRAPHS")
            exit(2)
        }
        let server = try ScriptedServer()
        server["/file.bin"] = Reply(Data(repeating: 42, count: 1_000_000), fields: fields("application/octet-stream"))
        server["/notes.txt"] = Reply("Water the plants.\n", fields: fields("text/plain")).conditional()
        server["/table.csv"] = Reply("name;age\nAda;36\nAlan;41\n", fields: fields("text/csv"))
        for (product, cents) in ["tea": 350, "cup": 150] {
            server["/prices/\(product)"] = Reply(
                #"{"product": "\#(product)", "cents": \#(cents)}"#, fields: fields("application/json"))
        }
        try addPhotographs(in: folder, to: server)
        addTokens(to: server)
        server.handle("/requests") { [server] request in
            let path = request.queryValue("path") ?? ""
            return Reply("\(server.requests.count { $0.path == path })\n", fields: ["Cache-Control": "no-store"])
        }
        print(server.port)
        fflush(nil)
        while !FileHandle.standardInput.availableData.isEmpty {}
        server.stop()
    }

    private static func fields(_ type: String) -> KeyValuePairs<String, String> {
        ["Content-Type": type, "Cache-Control": "max-age=3600", "ETag": "\"1\""]
    }

    private static func addPhotographs(in folder: URL, to server: ScriptedServer) throws {
        let names = ["chelsea.png", "rocket.jpg", "coffee.png", "astronaut.png", "missing.png"]
        let photos = names.map { #"{"title": "\#($0)", "url": "\#(server.url("/photos/\($0)"))"}"# }
        server["/feed.json"] = Reply(
            #"{"photos": [\#(photos.joined(separator: ", "))]}"#, fields: fields("application/json"))
        for name in names.dropLast() {
            let photo = try Data(contentsOf: folder.appendingPathComponent(name))
            server["/photos/\(name)"] = Reply(photo, fields: fields("image/\(name.suffix(3))"))
        }
    }

    /// `/account.json` wants the token that `/token` gives. The first one has expired.
    private static func addTokens(to server: ScriptedServer) {
        server["/token"] = Reply("fresh", fields: ["Cache-Control": "no-store"])
        server.handle("/account.json") { request in
            guard request["Authorization"] == "Bearer fresh" else {
                return Reply(status: 401, fields: ["WWW-Authenticate": "Bearer"])
            }
            return Reply(
                #"{"name": "Ada", "item": \#(request.queryValue("item") ?? "0")}"#, fields: fields("application/json"))
        }
    }
}
