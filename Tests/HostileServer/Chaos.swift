import Foundation
import ScriptedServer
import TestSupport

/// A server that drops, cuts, delays or corrupts one connection in three.
public struct Chaos: Sendable {
    private let seed: UInt64

    /// The same seed causes the same faults on the same connections.
    public init(seed: UInt64) {
        self.seed = seed
    }

    /// Makes a server answer `/chaos?NUMBER` with the ``ChaosBody`` of that number, or with a fault.
    public func install(on server: ScriptedServer) {
        server.handle("/chaos") { [self] request in
            var dice = SeededGenerator(seed: seed ^ UInt64(request.connection) << 20)
            let isFaulty = dice.roll(3) == 0
            let fault = dice.roll(20)
            // The fault strikes at any request of the connection.
            var throwing = SeededGenerator(seed: seed &+ UInt64(request.number))
            let honest = Self.honest(request, &throwing)
            return isFaulty && throwing.roll(2) == 0 ? Self.spoiled(honest, fault, &throwing) : honest
        }
    }

    private static func honest(_ request: RecordedRequest, _ dice: inout SeededGenerator) -> Reply {
        let number = request.query.flatMap(Int.init) ?? 0
        let body = ChaosBody(number)
        let fields: KeyValuePairs = ["Cache-Control": "max-age=\(number % 3)", "ETag": "\"\(number)\""]
        var reply = Reply(body.bytes, fields: fields).conditional()
        if dice.roll(3) == 0 {
            reply = Reply(body.gzipped, fields: fields).adding("Content-Encoding", value: "gzip").conditional()
        }
        // Connections end soon, so there are many, and one in three is faulty.
        if dice.roll(4) == 0 { reply = reply.closing() }
        switch dice.roll(4) {
        case 0: return reply.chunked(1 + dice.roll(5_000))
        case 1: return reply.untilClose()
        default: return reply
        }
    }

    private static func spoiled(_ reply: Reply, _ fault: Int, _ dice: inout SeededGenerator) -> Reply {
        let moment: Reply.Moment = [.beforeHead, .midHead, .afterHead, .afterBody(dice.roll(reply.body.count))][
            dice.roll(4)]
        switch fault {
        case 0...2: return reply.failing(.close(moment))
        case 3...5: return reply.failing(.reset(moment))
        case 6...8: return reply.delayed(by: Double(dice.roll(30)) / 1_000)
        case 9: return reply.failing(.silence(moment))
        case 10: return reply.failing(.badChunkSize(after: dice.roll(reply.body.count)))
        case 11: return reply.failing(.missingLastChunk)
        case 12: return reply.failing(.missingChunkEnd)
        case 13: return withLength(reply, reply.body.count + 1 + dice.roll(100))
        case 14: return withSurplus(reply)
        case 15: return .raw(String(repeating: "x", count: dice.roll(100)))
        case 16: return Reply("busy", status: 503)
        default: return corrupted(reply, &dice)
        }
    }

    private static func withLength(_ reply: Reply, _ length: Int) -> Reply {
        var reply = reply
        reply.framing = .contentLength
        return reply.failing(.contentLength(length))
    }

    /// The response that another request should get, behind this one.
    private static func withSurplus(_ reply: Reply) -> Reply {
        let head = "HTTP/1.1 200 OK\r\nContent-Length: \(reply.body.count)\r\n"
        let coding = reply.fields.filter { $0.name == "Content-Encoding" }.map { "Content-Encoding: \($0.value)\r\n" }
            .joined()
        let other = ChaosBody(7_777).bytes
        let surplus = "HTTP/1.1 200 OK\r\nContent-Length: \(other.count)\r\n\r\n"
        return .script(.bytes(Data((head + coding + "\r\n").utf8) + reply.body + Data(surplus.utf8) + other))
    }

    private static func corrupted(_ reply: Reply, _ dice: inout SeededGenerator) -> Reply {
        var reply = reply
        reply.body[dice.roll(reply.body.count)] ^= UInt8(1 << dice.roll(8))
        return reply
    }
}
