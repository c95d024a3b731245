import Foundation
import HTTPCaching

/// A step in flight on the network.
struct Exchange: Sendable {
    var step: FetchStep
    let requestTime: Date
    /// When the request was sent, in the order of invalidations.
    var mark: InvalidationLog.Mark
    var received: ReceivedResponse
    /// Known once `send` has returned; a transfer can end before.
    var transfer: (any Transfer)?
    /// The network timings; nil if the session does not report them.
    var network: NetworkTrace?
    /// The body if it goes to a file; known once the transfer has ended.
    var file: PartialFile?
    /// How the transfer ended; nil while it is in flight.
    var end: Result<Void, any Error>?

    /// Whether the transfer ended with an error.
    var hasFailed: Bool { if case .failure? = end { true } else { false } }

    /// Whether the transfer ended because the network was switched off.
    var isInterrupted: Bool { if case .failure(is NetworkSwitchedOff)? = end { true } else { false } }

    mutating func receive(_ head: ResponseHead, at now: Date) {
        received.receive(head, at: now)
        if let resumption { received.continues(after: resumption.start) }
    }

    /// Notes the end of the transfer. A redirect is followed even if its body was cut short, but not stored then.
    mutating func note(_ end: Result<Void, any Error>) {
        var isCutShort = received.isCutShort
        if case .failure = end { isCutShort = true }
        guard isCutShort, received.isRedirect else { return self.end = end }
        received.dropBody()
        self.end = .success(())
    }

    /// Notes that the session sent a credential that the request does not show: the response is for requests with the same
    /// credential (RFC 9111 §3.5).
    mutating func authorize(_ credential: String) {
        step.cacheRequest.sessionHeaders[FieldName.authorization] = credential
    }

    /// Whether the caller gets the body as it arrives: only if it will be the result.
    var isReportedAsItArrives: Bool {
        guard (200..<300).contains(received.status), !received.isTooLarge else { return false }
        if case .complete = step.decision, received.status == 206 { return resumption != nil }
        return true
    }

    /// What the caller gets with the head.
    var headEvent: FetchEvent? {
        guard isReportedAsItArrives, let head = received.head else { return nil }
        if let resumption { return .resumed(after: resumption.start, expectedBytes: resumption.length) }
        return .response(head, expectedBytes: received.bodyLength)
    }

    /// Where the rest of a body begins, and the length of the whole; nil if this is not the rest that was requested.
    var resumption: (start: Int, length: Int?)? {
        guard case .complete(let selection, _, let start) = step.decision, received.status == 206,
            !step.cacheRequest.fields.contains(FieldName.range), let part = CacheRules.part(of: received.fields),
            part.range.lowerBound == start, (received.bodyLength ?? part.range.count) == part.range.count
        else { return nil }
        let beginning = step.entries[selection.index].response
        let length = beginning.part?.completeLength ?? part.completeLength
        guard beginning.hasSameStrongValidator(as: received.fields), (part.completeLength ?? length) == length
        else { return nil }
        return (start, length)
    }
}
