import Foundation
import HTTPCaching

/// Writes a body to a file as it arrives, on a queue of its own: a slow disk holds up neither other bodies nor the session.
///
/// When the disk is slower than the network, the transfer is paused. So only about half a megabyte waits in memory.
final class BodySink: @unchecked Sendable {  // `output` is used on `queue` only, `isTransferPaused` on `control`
    typealias Failed = @Sendable (any Error) -> Void

    /// The kept beginning was used, evicted or corrupt when its rest arrived.
    struct BeginningIsGone: Error {}

    /// Whether more bytes are to come.
    private enum Flow {
        case running
        /// The transfer is to pause until the disk has caught up.
        case paused
        case ended
        /// No load waits for the body any more.
        case abandoned
    }

    private struct State {
        var flow = Flow.running
        /// The bytes that wait for the disk.
        var waiting = 0
    }

    private enum Output {
        /// The file has not been opened yet, or the caller has it.
        case none
        case open(PartialFile)
        case failed(any Error)
    }

    /// A transfer pauses when more bytes than `maximumWaiting` wait for the disk, and continues at `resumingLimit`.
    private static let (maximumWaiting, resumingLimit) = (512 << 10, 128 << 10)
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
    private var output = Output.none
    /// Whether the transfer is paused.
    private var isTransferPaused = false

    /// - Parameters:
    ///   - kept: the file with the beginning of the body; nil for a new file.
    ///   - resumable: the response if the rest of its body can be requested later.
    ///   - length: the length of the whole body; nil if it is not known.
    ///   - pause: pauses the transfer, or resumes it; returns false if the transfer is not known yet.
    ///   - failed: called once if the file can't be written.
    init(
        _ places: BodyPlaces, continuing kept: KeptPartial?, resumable: StoredResponse?, length: Int?,
        pause: @escaping @Sendable (Bool) -> Bool, failed: @escaping Failed
    ) {
        self.places = places
        self.kept = kept
        self.length = length
        self.resumable = resumable
        self.pause = pause
        self.failed = failed
    }

    var cacheKey: String { places.cacheKey }

    /// Opens the file. Parsers first get the bytes that it already has.
    func start() {
        queue.async { [self] in
            if state.withLock({ $0.flow != .abandoned }) { attempt { output = .open(try open()) } }
        }
    }

    private func open() throws -> PartialFile {
        let file =
            try kept.map(continueFile)
            ?? places.begin(resumable: resumable, length: length, isCoalesced: tap.isCoalesced)
        if let length { try places.checkSpace(for: length, in: file, isCoalesced: tap.isCoalesced) }
        return file
    }

    private func continueFile(_ kept: KeptPartial) throws -> PartialFile {
        guard let file = kept.open() else { throw BeginningIsGone() }
        if tap.isUsed { try file.forEachPiece { tap.pass(Data($0)) } }
        guard let length, !file.hasRoom(for: length - file.count) else { return file }
        return try places.grow(file, toOneOf: length, resumable: resumable, isCoalesced: tap.isCoalesced)
    }

    func append(_ data: Data) {
        let pauses = state.withLock { state in
            state.waiting += data.count
            guard state.waiting > Self.maximumWaiting, state.flow == .running else { return false }
            state.flow = .paused
            return true
        }
        if pauses { applyPause() }
        queue.async { [self] in
            attempt { try write(data) }
            let resumes = state.withLock { state in
                state.waiting -= data.count
                guard state.waiting <= Self.resumingLimit, state.flow == .paused else { return false }
                state.flow = .running
                return true
            }
            if resumes { applyPause() }
        }
    }

    /// Applies a pause that was requested before the transfer was known.
    func transferIsKnown() { applyPause() }

    /// Calls `done` on the sink's queue: with the file of all bytes that have arrived, or with the error.
    func end(_ done: @escaping @Sendable (Result<PartialFile, any Error>) -> Void) {
        finish(.ended)
        queue.async { [self] in
            let result: Result<PartialFile, any Error> =
                switch output {
                case .open(let file): .success(file)
                case .failed(let error): .failure(error)
                case .none: .failure(BeginningIsGone())
                }
            output = .none
            done(result)
        }
    }

    /// Keeps what has arrived for a later load, because no load waits for the body any more.
    func abandon(then done: @escaping @Sendable () -> Void) {
        finish(.abandoned)
        queue.async { [self] in
            if case .open(let file) = output { file.keep() }
            output = .none
            done()
        }
    }

    private func finish(_ end: Flow) {
        let resumes = state.withLock { state in
            defer { if state.flow != .abandoned { state.flow = end } }
            return state.flow == .paused
        }
        if resumes { applyPause() }
    }

    private func write(_ data: Data) throws {
        guard case .open(var file) = output else { return }
        if !file.hasRoom(for: data.count) {
            let needed = file.count + data.count
            file = try places.grow(
                file, toOneOf: 2 * needed, needed, resumable: resumable, isCoalesced: tap.isCoalesced)
            output = .open(file)
        }
        try data.withUnsafeBytes { try file.append($0) }
        tap.pass(data)
    }

    private func attempt(_ body: () throws -> Void) {
        dispatchPrecondition(condition: .onQueue(queue))
        if case .failed = output { return }
        do {
            try body()
        } catch {
            if case .open(let file) = output { file.keep() }
            let error = places.naming(error)
            output = .failed(error)
            failed(error)
        }
    }

    private func applyPause() {
        Self.control.async { [self] in
            let isPaused = state.withLock { $0.flow == .paused }
            // Sessions count how often a task was suspended, so each pause is applied and ended only once.
            if isPaused != isTransferPaused, pause(isPaused) { isTransferPaused = isPaused }
        }
    }
}
