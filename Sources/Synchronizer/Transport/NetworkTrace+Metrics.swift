import Foundation

extension NetworkTrace {
    /// The metrics of a task's last request, from a session that collects them.
    init?(_ metrics: URLSessionTaskMetrics) {
        guard let last = metrics.transactionMetrics.last else { return nil }
        self.init()
        nameLookup = Self.seconds(from: last.domainLookupStartDate, to: last.domainLookupEndDate)
        connect = Self.seconds(from: last.connectStartDate, to: last.secureConnectionStartDate ?? last.connectEndDate)
        secureConnection = Self.seconds(from: last.secureConnectionStartDate, to: last.secureConnectionEndDate)
        firstByte = Self.seconds(from: last.fetchStartDate, to: last.responseStartDate)
        protocolName = last.networkProtocolName
        isConnectionReused = last.isReusedConnection
        remoteAddress = last.remoteAddress
        bytesSent = Int(clamping: last.countOfRequestHeaderBytesSent + last.countOfRequestBodyBytesSent)
        bytesReceived = Int(clamping: last.countOfResponseHeaderBytesReceived + last.countOfResponseBodyBytesReceived)
    }

    private static func seconds(from start: Date?, to end: Date?) -> TimeInterval? {
        guard let start, let end else { return nil }
        return max(0, end.timeIntervalSince(start))
    }
}
