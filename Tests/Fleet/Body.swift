import Foundation
import SynchronizerSupport
import TestSupport

/// The bodies of the fleet's origin: each says what it answers, for whom, and in which version, and all of its bytes follow
/// from that.
enum Body {
    /// Making a body takes longer than a load from memory.
    private static let known = Locked<[String: Data]>([:])

    static func of(_ path: String, user: String, version: Int) -> Data {
        let head = "\(path) \(user) \(version)\n"
        if let body = known.withLock({ $0[head] }) { return body }
        let body = make(head)
        known.withLock { known in
            if known.count > 2000 { known = [:] }
            known[head] = body
        }
        return body
    }

    private static func make(_ head: String) -> Data {
        var random = SeededGenerator(seed: seed(head))
        let size = 200 + Int(random.next() % 20_000)
        let pattern = (0..<8).map { _ in random.next() }.withUnsafeBytes { Data($0) }
        var body = Data(head.utf8)
        while body.count < size { body.append(pattern.prefix(size - body.count)) }
        return body
    }

    /// Whether every byte is right, and the body answers this user.
    static func isRight(_ body: Data, _ path: String, user: String) -> Bool {
        let words = String(decoding: body.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self).split(separator: " ")
        guard words.count == 3, words[0] == path, words[1] == user, let version = Int(words[2]) else { return false }
        return body == of(path, user: user, version: version)
    }

    /// FNV-1a.
    private static func seed(_ text: String) -> UInt64 {
        text.utf8.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x0100_0000_01b3 }
    }
}

/// What the fleet loads: five hundred URLs, some of which have an answer for each user.
enum Site {
    static let urls = 500
    static let users = ["-", "ann", "bob"]

    static func path(_ rank: Int) -> String { "/item/\(rank)" }
    static func isPersonal(_ rank: Int) -> Bool { rank % 10 == 3 }
    /// Seconds for which a response is fresh.
    static func lifetime(_ rank: Int) -> Int { 3 + rank % 4 }
}
