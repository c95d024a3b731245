import Foundation
import ScriptedServer

/// The commands of the running site.
///
///     limit BYTES        bytes per second for all connections together; 0 for no limit
///     latency SECONDS    delays each reply
///     fail TARGET        answers 404 there, such as /gallery/coffee.jpg?item=3
///     heal TARGET        answers normally again
///     enlarge            serves large photographs from now on, at /large.json?items=600
///     mix                serves small ones and originals from now on, at /mixed.json?items=600
///     counts             requests and bytes so far: {"requests":3,"bytes":1200}
struct Commands {
    let server: ScriptedServer

    func answer(to line: String) -> String {
        let words = line.split(separator: " ").map(String.init)
        let argument = words.dropFirst().first ?? ""
        switch words.first {
        case "limit": server.limitBandwidth(to: Int(argument).flatMap { $0 > 0 ? $0 : nil })
        case "latency": server.setLatency(Double(argument) ?? 0)
        case "fail": server[argument] = Reply("It is not here.", status: 404)
        case "heal": server[argument] = nil
        case "enlarge":
            guard let large = try? Detail.enlarged(.large) else { return "there are none" }
            Album(name: "large", details: large).open(on: server)
        case "mix":
            guard let small = try? Detail.enlarged(.small), let originals = try? Detail.enlarged(.original, most: 2)
            else { return "there are none" }
            Album(name: "mixed", details: small, originals: originals).open(on: server)
        case "counts":
            let counts = server.counts
            return "{\"requests\":\(counts.requests),\"bytes\":\(counts.bodyBytesSent)}"
        default: return "what?"
        }
        return "done"
    }
}
