import Foundation
import HTTPCaching
import SynchronizerSupport

/// A body that is written to a file as it arrives, and checksummed on the way. One thread at a time uses it.
///
/// At the end of this object, the file stays if its rest can be requested later, and the body was neither delivered nor dropped.
package final class PartialFile: @unchecked Sendable {  // only the queue that writes it uses its variables
    package let place: PartialFiles
    /// Nil if the file has no name, so that nothing is left of it if the process ends.
    let name: String?
    let descriptor: Int32
    /// The file of its record; negative if the rest can't be requested later.
    private let record: Int32
    /// The bytes so far.
    package private(set) var count: Int
    private var checksum: RunningChecksum
    private var checkpointed: Int
    /// The length of the body, if the record says so.
    private let wholeLength: Int?
    /// The length for which there is room in the cache.
    private(set) var reserved: Int
    private var isComplete = false
    private let state: Locked<State>

    /// The part of the state that the threads that deliver a body change, too.
    private struct State {
        /// Whether the file stays for a later load.
        var isKept: Bool
        /// The names of the file that are not those of callers: 1 or 0.
        var names: Int
        /// Whether ``keep()`` was called.
        var isOver = false
        /// Whether the file was left to later loads, one of which may be writing it.
        var isReleased = false
        /// Where the file is in the cache, if the cache has taken it.
        var paths: [String]?
    }

    /// The bytes that may arrive between two checkpoints: the most that a killed process loses.
    package static let checkpointInterval = 1 << 20
    /// The room that a body of unknown length gets first.
    static let firstReservation = 1 << 20

    /// Makes a file.
    ///
    /// - Parameters:
    ///   - resumable: the response if its rest can be requested later.
    ///   - length: the length of the body; nil if it is not known.
    init(
        in place: PartialFiles, urlKey: UInt64, resumable response: StoredResponse?, length: Int?
    ) throws(FileError) {
        self.place = place
        let nameless = response == nil && !place.isCounted ? FileSystem.openNameless(in: place.folder) : -1
        let isNamed = nameless < 0
        var isLocked = false
        if isNamed {
            (name, descriptor, isLocked) = try place.makeLocked(for: urlKey)
        } else {
            (name, descriptor) = (nil, nameless)
        }
        wholeLength = response?.part?.completeLength
        (count, checkpointed, checksum, reserved) = (0, 0, RunningChecksum(), 0)
        // Without a lock, no load could go on with the file.
        if isLocked, let name, let response {
            record = Self.makeRecord(response, at: place.recordPath(name))
        } else {
            record = -1
        }
        state = Locked(State(isKept: record >= 0, names: isNamed ? 1 : 0))
        ForkedProcess.willClose(descriptor)
        if let length { try reserve(length) }
    }

    /// Opens a kept beginning; nil if its bytes are others, or if it is in use.
    init?(going kept: KeptPartial) {
        let path = kept.place.path(kept.name)
        let file = Foundation.open(path, O_RDWR | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC)
        guard file >= 0 else { return nil }
        var status = stat()
        guard FileLock.takeToWrite(file) == .locked, fstat(file, &status) == 0, status.isOwnFile,
            // Until the lock was taken, another load may have gone on with the file, and even completed it.
            FileSystem.isFile(file, atOneOf: [path]), kept.isCurrent,
            let checksum = Descriptor.checksum(of: 0..<kept.count, in: file), checksum.value == kept.checksum
        else {
            FileLock.release(file)  // a child process forked since then has the file open, too
            close(file)
            return nil
        }
        wholeLength = kept.response.part?.completeLength
        (place, name, descriptor) = (kept.place, kept.name, file)
        (count, checkpointed, self.checksum) = (kept.count, kept.count, checksum)
        reserved = Int(status.st_size)
        record = Foundation.open(place.recordPath(kept.name), O_WRONLY | O_APPEND | O_NOFOLLOW | O_CLOEXEC)
        state = Locked(State(isKept: record >= 0, names: 1))
        ForkedProcess.willClose(descriptor)
    }

    deinit {
        keep()
        if record >= 0 { close(record) }
        ForkedProcess.close(descriptor)
    }

    private static func makeRecord(_ response: StoredResponse, at path: String) -> Int32 {
        let flags = O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
        let file = Foundation.open(path, flags, 0o600)
        guard file >= 0 else { return -1 }
        let bytes = PartialRecord.encode(response)
        if bytes.withUnsafeBytes({ Descriptor.write($0, to: file, at: 0) }) { return file }
        close(file)
        unlink(path)
        return -1
    }

    // MARK: - Writing

    package func append(_ bytes: UnsafeRawBufferPointer) throws(FileError) {
        try checkProcess()
        // Before the write and not after it: so no checkpoint is that of a whole body, and there is always a rest to request.
        if count - checkpointed >= Self.checkpointInterval { makeCheckpoint() }
        guard Descriptor.write(bytes, to: descriptor, at: count) else { throw .system(path) }
        checksum.add(bytes)
        count += bytes.count
    }

    /// Whether the cache has room for so many more bytes. It always has in a folder outside of it.
    package func hasRoom(for more: Int) -> Bool { !place.isCounted || count + more <= reserved }

    /// Gives the file the length that its body will have, so that it counts, and checks that the disk has room for it.
    func reserve(_ length: Int) throws(FileError) {
        try checkProcess()
        if let free = Descriptor.freeBytes(descriptor), length - count > free { throw FileError(.noSpace, at: path) }
        guard place.isCounted, length > reserved else { return }
        guard ftruncate(descriptor, off_t(length)) == 0 else { throw .system(path) }
        reserved = length
    }

    /// A forked process has closed the file: its descriptor may be that of another one.
    private func checkProcess() throws(FileError) {
        if ForkedProcess.isCurrent { throw FileError(.other, at: path, code: EBADF) }
    }

    private func makeCheckpoint() {
        // A whole body, or one that is too long, has no rest to request.
        guard record >= 0, count < wholeLength ?? .max else { return }
        let bytes = PartialRecord.encode(.init(count: count, checksum: checksum.value))
        // `decode` ignores a checkpoint that is cut short, and all that follows it: then an earlier checkpoint counts.
        if Foundation.write(record, Array(bytes), bytes.count) == bytes.count { checkpointed = count }
    }

    /// Keeps the bytes for a later load, which may go on with the file at once. From then on, this object must not write it.
    /// If the body is whole, the file keeps the last checkpoint, so that there is a rest to request.
    package func keep() {
        if ForkedProcess.isCurrent { return }
        let wasOver = state.withLock { state in
            defer { state.isOver = true }
            return state.isOver
        }
        if wasOver { return }
        if count > checkpointed, !isComplete { makeCheckpoint() }
        let isLeft = state.withLock { state in
            state.isReleased = state.isKept && checkpointed > 0
            return state.isReleased
        }
        if isLeft { ftruncate(descriptor, off_t(count)) } else { removeName() }
        FileLock.release(descriptor)
    }

    /// Adds all bytes of another file.
    package func append(contentsOf other: PartialFile) throws {
        try other.forEachPiece { try append($0) }
    }

    /// Passes the bytes so far to `body` in pieces.
    package func forEachPiece(_ body: (UnsafeRawBufferPointer) throws -> Void) throws {
        try checkProcess()
        guard try Descriptor.read(0..<count, of: descriptor, body) else { throw FileError(.other, at: path, code: EIO) }
    }

    // MARK: - The end

    /// The body is complete.
    package func finish() throws(FileError) -> BodyFile {
        try checkProcess()
        guard ftruncate(descriptor, off_t(count)) == 0 else { throw .system(path) }
        reserved = count
        isComplete = true
        return BodyFile(self, checksum: checksum.value)
    }

    /// The body was delivered, or must not be kept: its name is removed. It stays readable.
    package func drop() {
        if ForkedProcess.isCurrent { return }
        let isReleased = state.withLock { state in
            state.isKept = false
            return state.isReleased
        }
        if !isReleased { return removeName() }
        if let name { place.whileIdle(name) { place.remove(name) } }
    }

    private func removeName() {
        let hadName = state.withLock { state in
            defer { state.names = 0 }
            return state.names == 1
        }
        if hadName, let name { place.remove(name) }
    }

    /// The cache has taken the file, and given it one of these names.
    func wasAdopted(at paths: [String]) {
        state.withLock { state in
            state.isKept = false
            state.paths = paths
        }
        if let name { unlink(place.recordPath(name)) }
    }

    /// How many names the file has that are not those of callers.
    var nameCount: Int {
        let (names, paths) = state.withLock { ($0.names, $0.paths) }
        guard names > 0, let paths else { return names }
        return FileSystem.isFile(descriptor, atOneOf: paths) ? 1 : 0
    }

    /// Whether another load may be writing the file.
    var isReleased: Bool { state.withLock { $0.isReleased } }

    /// The path, for errors.
    package var path: String { name.map(place.path) ?? place.folder }
}
