import Foundation
import SynchronizerSupport

/// Reads an `InputStream`, which may block, on a queue of its own, at most 128 KB ahead of what libcurl has taken.
final class BodyStream: @unchecked Sendable {  // `stream` is touched on `queue` only, the rest under the lock
    enum Piece {
        case bytes(Int)
        /// No bytes are available yet. The closure that was given to `read` will be called.
        case notYet
        case end
        case failed
    }

    fileprivate struct State {
        var buffer: [UInt8] = []
        var taken = 0
        var hasEnded = false
        var hasFailed = false
        var isReading = false
        var isClosed = false
        var notify: (@Sendable () -> Void)?
    }

    private static let chunk = 64 << 10
    private let stream: InputStream
    private let queue = DispatchQueue(label: "CurlSession.body", qos: .userInitiated)
    private let state = Locked(State())

    init(_ stream: InputStream) {
        self.stream = stream
    }

    /// Takes bytes, or calls `notify` later, when there are some.
    func read(into space: UnsafeMutableRawBufferPointer, notify: @escaping @Sendable () -> Void) -> Piece {
        let (piece, isToRead) = state.withLock { state -> (Piece, Bool) in
            let piece = state.take(into: space)
            if case .notYet = piece { state.notify = notify }
            let isToRead = !state.isReading && !state.hasEnded && state.buffer.count - state.taken < Self.chunk
            if isToRead { state.isReading = true }
            return (piece, isToRead)
        }
        if isToRead { queue.async { [self] in fill() } }
        return piece
    }

    /// Closes the stream. No thread waits for a read that blocks.
    func close() {
        state.withLock { $0.isClosed = true }
        queue.async { [self] in stream.close() }
    }

    private func fill() {
        dispatchPrecondition(condition: .onQueue(queue))
        if stream.streamStatus == .notOpen { stream.open() }
        var chunk = [UInt8](repeating: 0, count: Self.chunk)
        let count = state.withLock({ $0.isClosed }) ? -1 : stream.read(&chunk, maxLength: chunk.count)
        let notify = state.withLock { state in
            state.buffer.removeSubrange(..<state.taken)
            state.taken = 0
            if count > 0 { state.buffer += chunk[..<count] }
            state.hasEnded = state.hasEnded || count <= 0
            state.hasFailed = state.hasFailed || count < 0
            state.isReading = false
            defer { state.notify = nil }
            return state.notify
        }
        notify?()
    }
}

extension BodyStream.State {
    fileprivate mutating func take(into space: UnsafeMutableRawBufferPointer) -> BodyStream.Piece {
        let count = min(space.count, buffer.count - taken)
        guard count > 0 else { return hasFailed ? .failed : hasEnded ? .end : .notYet }
        buffer.withUnsafeBytes { space.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[taken..<taken + count])) }
        taken += count
        return .bytes(count)
    }
}
