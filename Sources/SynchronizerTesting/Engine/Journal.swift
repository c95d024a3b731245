import Foundation

/// What a server has seen.
struct Journal: Sendable {
    var requests: [RecordedRequest] = []
    var counts = ServerCounts()
    /// How many requests are kept; the oldest are dropped, and still counted.
    var capacity = 100_000

    mutating func record(_ request: RecordedRequest) {
        counts.requests += 1
        requests.append(request)
        if requests.count > capacity { requests.removeFirst(max(1, min(requests.count, capacity / 2))) }
    }
}

/// What a server counts. Two counts can be subtracted, to see what a part of a test has cost.
public struct ServerCounts: Hashable, Sendable {
    /// Requests that were received whole.
    public var requests = 0
    /// Requests that were refused because they made no sense or were too large.
    public var refusals = 0
    /// The replies whose head has begun to be sent, by status.
    public var replies: [Int: Int] = [:]
    /// Replies that were sent as planned to their end.
    public var repliesCompleted = 0
    /// Replies that were under way, or waiting, when the client went.
    public var repliesAbandoned = 0
    /// The bytes of content that were handed to the system, without heads and framing.
    public var bodyBytesSent = 0
    /// Connections that were accepted.
    public var connectionsOpened = 0
    /// Connections that have ended, by either side.
    public var connectionsClosed = 0
    /// Those that the client closed first, in good order.
    public var connectionsClosedByPeer = 0
    /// Those that the client reset.
    public var connectionsResetByPeer = 0

    /// Nothing yet.
    public init() {}

    /// Connections that are open now.
    public var connectionsOpen: Int { connectionsOpened - connectionsClosed }

    /// What has been added since an earlier count.
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
