import Foundation

/// A reply of the server.
package enum Reply: Hashable, Sendable {
    case data(Data)
    case status(String)
    case number(Int)
    case null
    case array([Reply])
    case error(ServerError)

    package var data: Data? { if case .data(let data) = self { data } else { nil } }
    package var text: String? { data.map { String(decoding: $0, as: UTF8.self) } }
    package var number: Int? { if case .number(let number) = self { number } else { nil } }
    package var array: [Reply]? { if case .array(let array) = self { array } else { nil } }
}

/// An error in a reply of the server. The cases differ in what the client does about them.
package enum ServerError: Hashable, Sendable {
    /// Another node has the slot from now on.
    case moved(slot: Int, to: ClusterNode)
    /// Another node may have the key, because the slot is being moved. This concerns only this command.
    case ask(ClusterNode)
    /// The server has forgotten the scripts.
    case noScript
    /// The server answers, but takes no writes: it is full, or a replica.
    case refusesWrites(String)
    /// The server does not run this command: the value of its key has another type, the slot is being moved, or the user has no
    /// permission.
    case refusesKey(String)
    /// The server runs no commands now: it is starting, runs a slow script, or does not reach the rest of its cluster.
    case unavailable(String)
    /// Any other error: the server cannot be used now.
    case other(String)

    package init(_ text: String) {
        let words = text.split(separator: " ", maxSplits: 3, omittingEmptySubsequences: true).map(String.init)
        switch words.first {
        case "MOVED":
            guard words.count >= 3, let slot = Int(words[1]), (0..<16_384).contains(slot),
                let node = ClusterNode(words[2])
            else { self = .other(text); return }
            self = .moved(slot: slot, to: node)
        case "ASK":
            guard words.count >= 3, let node = ClusterNode(words[2]) else { self = .other(text); return }
            self = .ask(node)
        case "NOSCRIPT": self = .noScript
        case "LOADING", "BUSY", "CLUSTERDOWN", "MASTERDOWN": self = .unavailable(text)
        case "OOM", "READONLY", "MISCONF", "NOREPLICAS": self = .refusesWrites(text)
        case "WRONGTYPE", "TRYAGAIN", "CROSSSLOT", "NOPERM": self = .refusesKey(text)
        // An error in a script: the text of Redis 7 begins with the code, and the text of older servers contains it.
        default:
            let isWrite = ["-OOM ", "-READONLY ", "-MISCONF ", "-NOREPLICAS "].contains { text.contains($0) }
            self = isWrite ? .refusesWrites(text) : text.contains("-WRONGTYPE ") ? .refusesKey(text) : .other(text)
        }
    }

    /// Whether the key has a value of another type, which this cache cannot have stored.
    package var isWrongType: Bool {
        if case .refusesKey(let text) = self { text.contains("WRONGTYPE ") } else { false }
    }
}

/// A node of a cluster. An empty host means the host of the node that answered.
package struct ClusterNode: Hashable, Sendable {
    package let host: String
    package let port: Int

    /// nil if there is no such port.
    package init?(host: String, port: Int) {
        guard (1...65_535).contains(port) else { return nil }
        (self.host, self.port) = (host, port)
    }

    package init?(_ text: String) {
        guard let colon = text.lastIndex(of: ":"), let port = Int(text[text.index(after: colon)...]) else { return nil }
        self.init(host: String(text[..<colon]), port: port)
    }
}

/// Why the server did not answer.
package enum LinkFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// Calls are refused for a while, because earlier ones failed.
    case pausing
    /// All connections that the process may open are in use.
    case busy
    case timedOut
    case closed
    case refused(String)
    case malformed(String)
    /// The reply to a command with these keys is malformed or too large, or the value of one of them has another type.
    case unreadable([String], String)
    case server(String)

    /// Whether the failure is that of a node that can't be reached. In a cluster, the other nodes can still be used then.
    package var isOfNode: Bool {
        switch self {
        case .pausing, .timedOut, .closed, .refused: true
        case .busy, .malformed, .unreadable, .server: false
        }
    }

    /// Whether the server has certainly run none of the commands, nor will it.
    package var isBeforeCommands: Bool {
        switch self {
        case .pausing, .busy, .refused: true
        case .timedOut, .closed, .malformed, .unreadable, .server: false
        }
    }

    package var description: String {
        switch self {
        case .pausing: "it has failed before"
        case .busy: "it answers too slowly"
        case .timedOut: "it does not answer in time"
        case .closed: "it closed the connection"
        case .refused(let why): "there is no connection: \(why)"
        case .malformed(let why), .unreadable(_, let why): "its answer is malformed: \(why)"
        case .server(let why): "it answers \(why)"
        }
    }
}
