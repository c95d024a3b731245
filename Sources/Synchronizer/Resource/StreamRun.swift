import Foundation

/// The parse of a body while it arrives. The queue that writes the body feeds it; then the thread of the parse finishes it.
final class StreamRun: @unchecked Sendable {  // queue and thread use it one after the other; `isStopped` is Locked
    private let parse: (Data) throws -> Void
    private let end: () throws -> any Sendable
    private var failure: (any Error)?
    /// The bytes that have been parsed.
    private(set) var count = 0
    /// The seconds spent parsing them.
    private(set) var seconds: TimeInterval = 0
    private let time: any TimeSource
    private let isStopped = Locked(false)

    init<Parser: StreamParser>(_ parser: Parser, time: any TimeSource) {
        self.time = time
        var parser = parser
        parse = { try parser.parse($0) }
        end = { try parser.finish() }
    }

    func feed(_ data: Data) {
        guard failure == nil, !isStopped.withLock({ $0 }) else { return }
        let begin = time.now
        defer { seconds += max(0, time.now.timeIntervalSince(begin)) }
        do {
            try ParseCancellation.with({ [isStopped] in isStopped.withLock { $0 } }) { try parse(data) }
            count += data.count
        } catch {
            failure = error
        }
    }

    /// Finishes the parse and returns the object; nil if not all bytes of the body were parsed.
    func object(of bodySize: Int) throws -> (any Sendable)? {
        if let failure { throw failure }
        return count == bodySize ? try end() : nil
    }

    /// Stops the parse, because no subscriber wants the object any more.
    func stop() { isStopped.withLock { $0 = true } }
}

extension StreamingResource {
    /// The parse of a body that arrives.
    func makeStream(time: any TimeSource) -> StreamRun {
        StreamRun(makeParser(), time: time)
    }
}
