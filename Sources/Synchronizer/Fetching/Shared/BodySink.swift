import Foundation
import HTTPCaching

/// Writes a body to a file as it arrives, on a queue of its own: a slow disk holds up neither other bodies nor the session.
///
/// When the disk is slower than the network, the transfer is paused. So only about half a megabyte waits in memory.
final class BodySink: @unchecked Sendable {  // `file` and `failure` are used on `queue` only, `isApplied` on `control`
    typealias Failed = @Sendable (any Error) -> Void

    /// The kept beginning was used, evicted or corrupt when its rest arrived.
    struct BeginningIsGone: Error {}

    private struct State {
        var waiting = 0
        var isPaused = false
        var isOver = false
        var isAbandoned = false
    }

    /// A transfer pauses when more than `most` bytes wait for the disk, and continues at `few`.
    private static let (most, few) = (512 << 10, 128 << 10)
    /// Pauses and resumes transfers in order.
    private static let control = DispatchQueue(label: "Synchronizer.backpressure", qos: .userInitiated)

    let tap = BodyTap()
    private let kept: KeptPartial?
    private let length: Int?
    private let queue = DispatchQueue(label: "Synchronizer.body", qos: .userInitiated)
    private let state = Locked(State())
    private let places: BodyPlaces
    private let resumable: StoredResponse?
    private let pause: @Sendable (Bool) -> Bool
    private let failed: Failed
    private var file: PartialFile?
    private var failure: (any Error)?
    private var isApplied = false

    /// - Parameters:
    ///   - kept: the file with the beginning of the body; nil for a new file.
    ///   - resumable: the response if the rest of its body can be requested later.
    ///   - length: the length of the whole body; nil if it is not known.
    ///   - pause: pauses the transfer, or resumes it; returns false if the transfer is not known yet.
    ///   - failed: called once if the file can't be written.
    init(
        _ places: BodyPlaces, going kept: KeptPartial?, resumable: StoredResponse?, length: Int?,
        pause: @escaping @Sendable (Bool) -> Bool, failed: @escaping Failed
    ) {
        self.places = places
        self.kept = kept
        self.length = length
        self.resumable = resumable
        self.pause = pause
        self.failed = failed
    }

    /// The cache key.
    var url: String { places.url }

    /// Opens the file. Parsers first get the bytes that it already has.
    func start() {
        queue.async { [self] in
            if !state.withLock({ $0.isAbandoned }) { attempt { file = try open() } }
        }
    }

    private func open() throws -> PartialFile {
        let file = try kept.map(goOn) ?? places.begin(resumable: resumable, length: length, isShared: tap.isShared)
        if let length { try places.checkSpace(for: length, in: file, isShared: tap.isShared) }
        return file
    }

    private func goOn(with kept: KeptPartial) throws -> PartialFile {
        guard let file = kept.open() else { throw BeginningIsGone() }
        if tap.isUsed { try file.forEachPiece { tap.pass(Data($0)) } }
        guard let length, !file.hasRoom(for: length - file.count) else { return file }
        return try places.grow(file, toOneOf: length, resumable: resumable, isShared: tap.isShared)
    }

    func append(_ data: Data) {
        let pauses = state.withLock { state in
            state.waiting += data.count
            guard state.waiting > Self.most, !state.isPaused, !state.isOver else { return false }
            state.isPaused = true
            return true
        }
        if pauses { applyPause() }
        queue.async { [self] in
            attempt { try write(data) }
            let resumes = state.withLock { state in
                state.waiting -= data.count
                guard state.isPaused, state.waiting <= Self.few else { return false }
                state.isPaused = false
                return true
            }
            if resumes { applyPause() }
        }
    }

    /// Applies a pause that was requested before the transfer was known.
    func transferIsKnown() { applyPause() }

    /// Calls `done` on the sink's queue: with the file of all bytes that have arrived, or with the error.
    func end(_ done: @escaping @Sendable (Result<PartialFile, any Error>) -> Void) {
        finish()
        queue.async { [self] in
            let result: Result<PartialFile, any Error> =
                if let file, failure == nil { .success(file) } else { .failure(failure ?? BeginningIsGone()) }
            file = nil
            done(result)
        }
    }

    /// Keeps what has arrived for a later load, because no load waits for the body any more.
    func abandon(then done: @escaping @Sendable () -> Void) {
        state.withLock { $0.isAbandoned = true }
        finish()
        queue.async { [self] in
            file?.keep()
            file = nil
            done()
        }
    }

    private func finish() {
        let resumes = state.withLock { state in
            defer { (state.isPaused, state.isOver) = (false, true) }
            return state.isPaused
        }
        if resumes { applyPause() }
    }

    private func write(_ data: Data) throws {
        guard var file else { return }
        if !file.hasRoom(for: data.count) {
            let needed = file.count + data.count
            file = try places.grow(file, toOneOf: 2 * needed, needed, resumable: resumable, isShared: tap.isShared)
            self.file = file
        }
        try data.withUnsafeBytes { try file.append($0) }
        tap.pass(data)
    }

    private func attempt(_ body: () throws -> Void) {
        dispatchPrecondition(condition: .onQueue(queue))
        guard failure == nil else { return }
        do {
            try body()
        } catch {
            failure = error
            file?.keep()
            failed(error)
        }
    }

    private func applyPause() {
        Self.control.async { [self] in
            let isPaused = state.withLock { $0.isPaused }
            // Sessions count how often a task was suspended, so each pause is applied and ended only once.
            if isPaused != isApplied, pause(isPaused) { isApplied = isPaused }
        }
    }
}
