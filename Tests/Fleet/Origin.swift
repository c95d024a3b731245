import Foundation
import SynchronizerSupport
import SynchronizerTesting

/// The origin: counts the requests that a fleet that is one client would not have sent, and kills processes whose requests
/// have arrived.
final class Origin: Sendable {
    private struct State {
        /// When the latest request of a resource arrived that was needed, and from whom.
        var asked: [String: (date: Date, process: pid_t)] = [:]
        var counts = Counts()
        var toKill = 0
    }

    struct Counts: Codable {
        var requests = 0
        /// The requests that found no response that was fresh or on its way.
        var needed = 0
    }

    private let server: ScriptedServer
    private let isPerGroup: Bool
    private let latency: TimeInterval
    private let state = Locked(State())
    /// Seconds by which a client may ask early, because a response ages from its request on.
    private static let tolerance = 0.3

    /// - Parameters:
    ///   - latency: seconds before each reply.
    ///   - isPerGroup: whether the groups share no store, so that each needs responses of its own.
    init(latency: TimeInterval, isPerGroup: Bool) throws {
        server = try ScriptedServer()
        (self.isPerGroup, self.latency) = (isPerGroup, latency)
        server.keepRequests(atMost: 0)
        for rank in 0..<Site.urls {
            server.handle(Site.path(rank)) { [self] in reply(to: $0, rank).delayed(by: latency) }
        }
    }

    /// Does what the driver says, a line at a time.
    func run() {
        say("port \(server.port)")
        while let line = readLine() {
            let words = line.split(separator: " ")
            switch words.first {
            case "reset": state.withLock { $0.counts = Counts() }
            case "kill": state.withLock { $0.toKill += words.last.flatMap { Int($0) } ?? 0 }
            default: break
            }
            let counts = state.withLock { $0.counts }
            say((try? JSONEncoder().encode(counts)).map { String(decoding: $0, as: UTF8.self) } ?? "{}")
        }
    }

    private func reply(to request: RecordedRequest, _ rank: Int) -> Reply {
        let user = Site.isPersonal(rank) ? request["Authorization"] ?? "-" : "-"
        let now = Date()
        let key = "\(isPerGroup ? request["X-Group"] ?? "" : "") \(rank) \(user)"
        let victim = state.withLock { state -> pid_t? in
            state.counts.requests += 1
            let needed = now.addingTimeInterval(Self.tolerance - Double(Site.lifetime(rank)))
            guard state.asked[key].map({ $0.date < needed }) ?? true else { return nil }
            state.counts.needed += 1
            let process = request["X-Process"].flatMap { pid_t($0) } ?? 0
            state.asked[key] = (now, process)
            guard state.toKill > 0, process > 0 else { return nil }
            state.toKill -= 1
            // Its responses in flight, and those that were not written yet, reach no process.
            let lost = now.addingTimeInterval(-latency - Self.tolerance)
            state.asked = state.asked.filter { $0.value.process != process || $0.value.date < lost }
            return process
        }
        if let victim { kill(victim, SIGKILL) }
        let version = Int(now.timeIntervalSince1970) / 7
        return Reply(
            Body.of(Site.path(rank), user: user, version: version),
            fields: ["Cache-Control": "max-age=\(Site.lifetime(rank))", "ETag": "\"\(version)\""]
        ).conditional()
    }
}
