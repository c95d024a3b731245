import Foundation
import HTTPCaching

/// Where a response came from.
public enum LoadSource: String, Sendable, CaseIterable {
    /// The parsed object was in memory, and was fresh, or the cache policy accepted it.
    case memory
    /// A stored response was fresh, or the cache policy accepted it.
    case cache
    /// The server confirmed a stored response with 304.
    case revalidated
    /// The server.
    case network
    /// A stored response that was stale, but allowed (RFC 9111 §4.2.4, RFC 5861). Also a stale object in memory, while loads are
    /// offline (``Synchronizer/isOffline``).
    case stale
}

/// How a load went, as text and as values.
public struct LoadTrace: Sendable, Hashable {
    /// Where the response came from; nil while there is none.
    public var source: LoadSource?
    /// The reason in one clause, such as “fresh: age 12 s of 3600 s (max-age)”.
    ///
    /// If nothing usable is stored, a second clause says why the last response to such a request was not stored, or was removed,
    /// if this synchronizer knows it. It remembers a thousand requests. Evictions, and removals by other processes and other
    /// synchronizers, leave no reason.
    public var reason: String {
        get { why.clause }
        set { why = Why(clause: newValue) }
    }
    private var why = Why(clause: "")
    /// The status of the last response from a server in this load; nil without a request.
    public var status: Int?
    /// The age of the stored response when it was selected, in seconds (RFC 9111 §4.2.3).
    public var age: TimeInterval?
    /// The freshness lifetime of the stored response, in seconds (RFC 9111 §4.2.1).
    public var lifetime: TimeInterval?
    /// The source of that lifetime: `max-age`, `Expires`, `heuristic`, …
    public var lifetimeRule: String?
    /// The validators that were sent, such as `If-None-Match: "1"` (RFC 9111 §4.3.1).
    public var validators: [String] = []
    /// The redirects that were followed, in order.
    public var redirects: [URL] = []
    /// Seconds spent waiting for a slot.
    public var queueWait: TimeInterval = 0
    /// Seconds spent waiting for another process that requested the same response: see ``RequestLeases``.
    public var leaseWait: TimeInterval = 0
    /// Seconds from sending the request to the head of the final response; nil without a request.
    public var timeToFirstByte: TimeInterval?
    /// Seconds from the head to the end of the body; nil without a request.
    public var transfer: TimeInterval?
    /// Seconds spent parsing; nil if nothing was parsed. See also ``isDerived``.
    public var parse: TimeInterval?
    /// Whether the object was not parsed but read from the cache, where it was stored next to its response: see
    /// ``DerivedResource``. Then ``parse`` is the time to read and decode the object.
    public var isDerived = false
    /// Whether the stored response came from the server of a cache that several machines share, such as `ValkeyURLCache`, and not
    /// from this machine.
    public var isFromSharedCache = false
    /// Bytes of body received from the network, after decoding.
    public var bytesReceived = 0
    /// Bytes of body that came from the cache instead of the network.
    public var bytesSaved = 0
    /// Whether the cache stored the server's response, or why not; nil if the answer is not the server's response.
    public var storing: ResponseStoring?
    /// Why a redirect that a server sent in this load was not stored; nil if there is none.
    var unstoredRedirect: ResponseStoring.Reason?
    /// The network timings of the last request of this load; nil without one, or if the session does not report them.
    public var network: NetworkTrace? {
        get { boxedNetwork?.value }
        set { boxedNetwork = newValue.map(Boxed.init) }
    }
    /// Boxed, because objects in memory keep their traces, and few traces are read.
    private var boxedNetwork: Boxed<NetworkTrace>?

    /// Creates an empty trace.
    @inline(never)
    public init() {}

    /// Sets the reason from the caching rules; the text is created when it is read.
    mutating func explain(_ explanation: Explanation) { why = Why(explanation) }
}

/// A reason. It is formatted only when it is read: few reasons are read, and formatting takes as long as a lookup.
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
        let name = source.map(\.rawValue) ?? "no response"
        var parts = reason.hasPrefix("\(name):") ? [reason] : [name, reason]
        if isFromSharedCache { parts.append("from the shared cache") }
        if let status { parts.append("status \(status)") }
        parts += validators
        parts += redirects.map { "→ \($0.absoluteString)" }
        if let network { parts.append(network.description) }
        let times = [
            ("queue", queueWait > 0 ? queueWait : nil), ("another process", leaseWait > 0 ? leaseWait : nil),
            ("first byte", timeToFirstByte), ("transfer", transfer),
            (isDerived ? "decode" : "parse", parse),
        ]
        parts += times.compactMap { name, seconds in seconds.map { "\(name) \($0.inMilliseconds)" } }
        if case .notStored? = storing { parts.append(storing?.description ?? "") }
        if bytesReceived > 0 { parts.append("\(bytesReceived) B received") }
        if bytesSaved > 0 { parts.append("\(bytesSaved) B saved") }
        return parts.filter { !$0.isEmpty }.joined(separator: ", ")
    }
}
