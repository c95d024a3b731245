import Foundation

/// What a server has seen.
struct Journal: Sendable {
    var requests: [RecordedRequest] = []
    var counts = ServerCounts()
    /// The number of requests that are kept. Older requests are dropped, but still counted.
    var capacity = 100_000 {
        didSet { dropOldest() }
    }

    mutating func record(_ request: RecordedRequest) {
        counts.requests += 1
        requests.append(request)
        dropOldest()
    }

    /// The first requests that are kept: none if the count is negative.
    func first(_ count: Int) -> [RecordedRequest] { Array(requests.prefix(max(0, count))) }

    /// Keeps the capacity. Drops half of the requests at a time, because dropping one takes as long.
    private mutating func dropOldest() {
        let surplus = requests.count - max(0, capacity)
        if surplus > 0 { requests.removeFirst(max(surplus, capacity / 2)) }
    }
}

/// The counts of a server. Subtract two of them to see what a part of a test has cost.
public struct ServerCounts: Hashable, Sendable {
    /// Requests that were received completely.
    public var requests = 0
    /// Requests that were refused because they were malformed or too large.
    public var refusals = 0
    /// Replies that the server has begun to send, by status.
    public var replies: [Int: Int] = [:]
    /// Replies that were sent to their planned end.
    public var repliesCompleted = 0
    /// Replies that were being sent, or were waiting, when the client disconnected.
    public var repliesAbandoned = 0
    /// The bytes of content that were handed to the system, without heads and framing.
    public var bodyBytesSent = 0
    /// Connections that were accepted.
    public var connectionsOpened = 0
    /// Connections that the server or the client has closed.
    public var connectionsClosed = 0
    /// Connections that the client closed first, with FIN.
    public var connectionsClosedByPeer = 0
    /// Connections that the client reset.
    public var connectionsResetByPeer = 0

    /// Creates counts of zero.
    public init() {}

    /// Connections that are open now.
    public var connectionsOpen: Int { connectionsOpened - connectionsClosed }

    /// Returns what has been counted since an earlier moment.
    public static func - (now: ServerCounts, earlier: ServerCounts) -> ServerCounts {
        var difference = now
        difference.requests -= earlier.requests
        difference.refusals -= earlier.refusals
        difference.replies.merge(earlier.replies) { $0 - $1 }
        difference.replies = difference.replies.filter { $0.value != 0 }
        difference.repliesCompleted -= earlier.repliesCompleted
        difference.repliesAbandoned -= earlier.repliesAbandoned
        difference.bodyBytesSent -= earlier.bodyBytesSent
        difference.connectionsOpened -= earlier.connectionsOpened
        difference.connectionsClosed -= earlier.connectionsClosed
        difference.connectionsClosedByPeer -= earlier.connectionsClosedByPeer
        difference.connectionsResetByPeer -= earlier.connectionsResetByPeer
        return difference
    }
}
