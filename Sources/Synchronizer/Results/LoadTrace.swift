import Foundation
import HTTPCaching

/// Where an answer came from.
public enum LoadSource: String, Sendable, CaseIterable {
    /// The parsed object was in memory, and fresh.
    case memory
    /// A stored response was fresh, or the cache policy asked for no more.
    case cache
    /// A stored response, which the server confirmed with 304.
    case revalidated
    /// The server.
    case network
    /// A stored response that is past its lifetime, and may be used all the same (RFC 9111 §4.2.4, RFC 5861).
    case stale
}

/// How a load went, as a person reads it and as fields.
public struct LoadTrace: Sendable, Hashable {
    /// Where the answer came from; nil while there is none.
    public var source: LoadSource?
    /// Why: one clause, such as “fresh: age 12 s of 3600 s (max-age)”.
    public var reason: String {
        get { why.clause }
        set { why = Why(clause: newValue) }
    }
    private var why = Why(clause: "")
    /// The status of the last answer that a server gave in this load; nil if none was asked.
    public var status: Int?
    /// The stored response's age when it was judged, in seconds (RFC 9111 §4.2.3).
    public var age: TimeInterval?
    /// The stored response's freshness lifetime in seconds (RFC 9111 §4.2.1).
    public var lifetime: TimeInterval?
    /// What gave that lifetime: `max-age`, `Expires`, `heuristic`, …
    public var lifetimeRule: String?
    /// The validators that were sent, such as `If-None-Match: "1"` (RFC 9111 §4.3.1).
    public var validators: [String] = []
    /// The redirects that were followed, in order.
    public var redirects: [URL] = []
    /// Seconds spent waiting for a turn.
    public var queueWait: TimeInterval = 0
    /// Seconds from sending the request to the head of the final response; nil without a request.
    public var timeToFirstByte: TimeInterval?
    /// Seconds from there to the end of the body; nil without a request.
    public var transfer: TimeInterval?
    /// Seconds spent parsing; nil if nothing was parsed.
    public var parse: TimeInterval?
    /// Bytes of body received from the network, after their content coding was removed.
    public var bytesReceived = 0
    /// Bytes of body that came from the cache instead of the network.
    public var bytesSaved = 0
    /// How the network did for the last request of this load; nil without one, and where the session does not tell.
    public var network: NetworkTrace? {
        get { boxedNetwork?.value }
        set { boxedNetwork = newValue.map(Boxed.init) }
    }
    /// In one object: objects in memory keep their traces, and few are looked at.
    private var boxedNetwork: Boxed<NetworkTrace>?

    /// An empty trace.
    public init() {}

    /// Says what the rules of caching say. It is put into words when somebody reads it.
    mutating func explain(_ explanation: Explanation) { why = Why(explanation) }
}

/// A reason, made into text as late as possible: few are read, and formatting takes as long as a look-up.
private struct Why: Hashable, Sendable {
    private enum Content: Sendable {
        case clause(String)
        case explanation(Explanation)
    }

    private let content: Content

    init(clause: String) { content = .clause(clause) }
    init(_ explanation: Explanation) { content = .explanation(explanation) }

    var clause: String {
        switch content {
        case .clause(let clause): clause
        case .explanation(let explanation): explanation.description
        }
    }

    static func == (one: Why, other: Why) -> Bool { one.clause == other.clause }
    func hash(into hasher: inout Hasher) { hasher.combine(clause) }
}

extension LoadTrace {
    /// Renamed to ``bytesSaved``.
    @available(*, deprecated, renamed: "bytesSaved")
    public var bytesSpared: Int {
        get { bytesSaved }
        set { bytesSaved = newValue }
    }
}

extension LoadTrace: CustomStringConvertible {
    /// One line for a log or a bug report.
    public var description: String {
        let name = source.map(\.rawValue) ?? "no answer"
        var parts = reason.hasPrefix("\(name):") ? [reason] : [name, reason]
        if let status { parts.append("status \(status)") }
        parts += validators
        parts += redirects.map { "→ \($0.absoluteString)" }
        if let network { parts.append(network.description) }
        let times = [
            ("queue", queueWait > 0 ? queueWait : nil), ("first byte", timeToFirstByte), ("transfer", transfer),
            ("parse", parse),
        ]
        parts += times.compactMap { name, seconds in seconds.map { "\(name) \($0.inMilliseconds)" } }
        if bytesReceived > 0 { parts.append("\(bytesReceived) B received") }
        if bytesSaved > 0 { parts.append("\(bytesSaved) B saved") }
        return parts.filter { !$0.isEmpty }.joined(separator: ", ")
    }
}
