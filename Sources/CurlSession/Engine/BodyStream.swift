import Foundation
import SynchronizerSupport

/// Reads an `InputStream` on a queue of its own, because reading may block. It reads at most 128 KB ahead of libcurl.
final class BodyStream: @unchecked Sendable {  // `stream` is touched on `queue` only, the rest under the lock
    enum Piece {
        case bytes(Int)
        /// No bytes are available yet. The closure that was given to `read` will be called.
        case notYet
        case end
        case failed
    }

    fileprivate enum Stage {
        /// The stream may have more bytes.
        case idle
        /// `fill` runs, or waits for the queue.
        case reading
        case ended
        /// The stream has failed, or `close` was called.
        case failed
    }

    fileprivate struct State {
        var stage = Stage.idle
        var buffer: [UInt8] = []
        var taken = 0
        var notify: (@Sendable () -> Void)?
    }

    private static let chunk = 64 << 10
    private let stream: InputStream
    private let queue = DispatchQueue(label: "CurlSession.body", qos: .userInitiated)
    private let state = Locked(State())

    init(_ stream: InputStream) {
        self.stream = stream
    }

    /// Takes bytes. If none are available yet, calls `notify` once the stream has more bytes, has ended or has failed.
    func read(into space: UnsafeMutableRawBufferPointer, notify: @escaping @Sendable () -> Void) -> Piece {
        let (piece, isToRead) = state.withLock { state -> (Piece, Bool) in
            let piece = state.take(into: space)
            if case .notYet = piece { state.notify = notify }
            let isToRead = state.stage == .idle && state.buffer.count - state.taken < Self.chunk
            if isToRead { state.stage = .reading }
            return (piece, isToRead)
        }
        if isToRead { queue.async { [self] in fill() } }
        return piece
    }

    /// Closes the stream. The caller does not wait for a read that blocks.
    func close() {
        state.withLock { ($0.stage, $0.notify) = (.failed, nil) }
        queue.async { [self] in stream.close() }
    }

    private func fill() {
        dispatchPrecondition(condition: .onQueue(queue))
        guard state.withLock({ $0.stage == .reading }) else { return }
        if stream.streamStatus == .notOpen { stream.open() }
        var chunk = [UInt8](repeating: 0, count: Self.chunk)
        let count = stream.read(&chunk, maxLength: chunk.count)
        let notify = state.withLock { $0.add(chunk, count: count) }
        notify?()
    }
}

extension BodyStream.State {
    fileprivate mutating func take(into space: UnsafeMutableRawBufferPointer) -> BodyStream.Piece {
        let count = min(space.count, buffer.count - taken)
        guard count > 0 else { return ending }
        buffer.withUnsafeBytes { space.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[taken..<taken + count])) }
        taken += count
        return .bytes(count)
    }

    /// The result of a read when the buffer is empty.
    private var ending: BodyStream.Piece {
        switch stage {
        case .idle, .reading: .notYet
        case .ended: .end
        case .failed: .failed
        }
    }

    /// Adds the result of `InputStream.read`: the first `count` bytes of the chunk. 0 means the end, a negative count an error.
    /// - Returns: The closure to call.
    fileprivate mutating func add(_ chunk: [UInt8], count: Int) -> (@Sendable () -> Void)? {
        buffer.removeSubrange(..<taken)
        taken = 0
        if count > 0 { buffer += chunk[..<count] }
        if stage == .reading { stage = count > 0 ? .idle : count == 0 ? .ended : .failed }
        defer { notify = nil }
        return notify
    }
}
