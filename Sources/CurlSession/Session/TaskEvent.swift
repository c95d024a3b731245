import Foundation
import FoundationNetworking

/// An event to report to a task's delegate.
enum TaskEvent: Sendable {
    case sent(Int64, total: Int64, expected: Int64)
    /// A redirect, and the request that would follow it.
    case redirect(CurlResponseHead, URLRequest)
    case challenge(TaskChallenge)
    case needsBodyStream
    case head(CurlResponseHead)
    case data(Data)
    case end(URLError?)
}

/// A delegate as each of the protocols; nil for those to which it does not conform.
struct Delegates: Sendable {
    let task: (any URLSessionTaskDelegate)?
    let data: (any URLSessionDataDelegate)?
    let curl: (any CurlSessionDataDelegate)?

    init(_ delegate: (any URLSessionDelegate)?) {
        task = delegate as? any URLSessionTaskDelegate
        data = delegate as? any URLSessionDataDelegate
        curl = delegate as? any CurlSessionDataDelegate
    }
}
