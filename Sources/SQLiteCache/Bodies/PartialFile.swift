import Foundation
import HTTPCaching
import SynchronizerSupport

/// The file of an incoming body, which is checksummed while it is written. One thread at a time uses this object.
///
/// When this object is released, the file stays if the rest of the body can be requested later, and the body was neither delivered
/// nor dropped.
package final class PartialFile: @unchecked Sendable {  // one thread at a time uses its variables, except `state`
    package let place: PartialFiles
    /// Nil if the file has no name: then nothing is left of it when the process ends.
    let name: String?
    let descriptor: Int32
    /// The descriptor of its record; negative if the rest can't be requested later.
    private let record: Int32
    /// The number of bytes so far.
    package private(set) var count: Int
    private var checksum: RunningChecksum
    private var checkpointed: Int
    /// The length of the body, if the record has it.
    private let wholeLength: Int?
    /// The length for which the cache has made room.
    private(set) var reserved: Int
    private var isComplete = false
    private let state: Locked<State>

    /// What becomes of the file when the body has arrived, or has been cut short.
    private enum Fate {
        /// The file has no name: it never had one, or the name was removed.
        case nameless
        /// The name will be removed, because no load can continue the file.
        case temporary
        /// The name stays for a later load, unless the body is delivered or dropped.
        case resumable
        /// The file was left to later loads, one of which may be writing it.
        case released
        /// The cache has taken the file, which is at one of these paths.
        case adopted(at: [String])
    }

    /// The part of the state that threads that deliver the body also change.
    private struct State {
        var fate: Fate
        /// Whether ``keep()`` was called.
        var isOver = false

        /// Returns false if that was noted before.
        mutating func end() -> Bool {
            defer { isOver = true }
            return !isOver
        }

        /// Leaves the file to later loads; returns false if no load can continue it.
        mutating func release(hasCheckpoint: Bool) -> Bool {
            guard hasCheckpoint, case .resumable = fate else { return false }
            fate = .released
            return true
        }

        /// Forgets the name, unless the cache or later loads have it. Returns the fate until now.
        mutating func drop() -> Fate {
            let old = fate
            switch old {
            case .temporary, .resumable: fate = .nameless
            case .nameless, .released, .adopted: break
            }
            return old
        }

        /// Forgets the name; returns false if there is none.
        mutating func removeName() -> Bool {
            defer { fate = .nameless }
            if case .nameless = fate { return false } else { return true }
        }

        mutating func adopt(at paths: [String]) {
            if case .nameless = fate { return }
            fate = .adopted(at: paths)
        }
    }

    /// The number of bytes after a checkpoint at which the next bytes to arrive cause another one: 1 MB, or the 4,096th part of the
    /// body. A killed process loses little more than this, and the bytes that it had not yet passed to this file. With a fixed
    /// interval, the record of a huge body would become too long.
    package static func checkpointInterval(at count: Int) -> Int { max(1 << 20, count >> 12) }
    /// The room that a body of unknown length gets first.
    static let firstReservation = 1 << 20

    /// Makes a file for an incoming body.
    ///
    /// - Parameters:
    ///   - resumable: the response, if the rest of its body can be requested later.
    ///   - length: the length of the body; nil if it is not known.
    package init(
        in place: PartialFiles, for url: String, resumable response: StoredResponse?, length: Int?
    ) throws(FileError) {
        self.place = place
        let nameless = response == nil && !place.isCounted ? FileSystem.openNameless(in: place.folder) : -1
        let isNamed = nameless < 0
        var isLocked = false
        if isNamed {
            (name, descriptor, isLocked) = try place.makeLocked(for: url)
        } else {
            (name, descriptor) = (nil, nameless)
        }
        wholeLength = response?.part?.completeLength
        (count, checkpointed, checksum, reserved) = (0, 0, RunningChecksum(), 0)
        // Without a lock, no later load could continue the file.
        if isLocked, let name, let response {
            record = Self.makeRecord(response, at: place.recordPath(name))
        } else {
            record = -1
        }
        state = Locked(State(fate: !isNamed ? .nameless : record >= 0 ? .resumable : .temporary))
        ForkedProcess.willClose(descriptor)
        if let length { try reserve(length) }
    }

    /// Continues a kept partial body; nil if its bytes do not match the checkpoint, or if it is in use.
    init?(continuing kept: KeptPartial) {
        let path = kept.place.path(kept.name)
        let file = Foundation.open(path, O_RDWR | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC)
        guard file >= 0 else { return nil }
        var status = stat()
        guard FileLock.takeToWrite(file) == .locked, fstat(file, &status) == 0, status.isOwnFile,
            // Before the lock was taken, another load may have continued the file, and even completed it.
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
        reserved = Int(clamping: status.st_size)
        record = Foundation.open(place.recordPath(kept.name), O_WRONLY | O_APPEND | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC)
        // After bytes that are no checkpoint, later checkpoints would not count.
        if record >= 0 { ftruncate(record, off_t(kept.recordLength)) }
        state = Locked(State(fate: record >= 0 ? .resumable : .temporary))
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
        // A checkpoint after the write could cover the whole body. Then a later load would have no rest to request.
        if count - checkpointed >= Self.checkpointInterval(at: checkpointed) { makeCheckpoint() }
        guard Descriptor.write(bytes, to: descriptor, at: count) else { throw .system(path) }
        checksum.add(bytes)
        count += bytes.count
    }

    /// Whether the cache has made room for so many more bytes. A file outside the cache needs no room there.
    package func hasRoom(for more: Int) -> Bool { !place.isCounted || count + more <= reserved }

    /// Checks that the disk has room for the body, and gives a file of the cache the length of its body, so that all of it counts
    /// towards the capacity.
    func reserve(_ length: Int) throws(FileError) {
        try checkProcess()
        if let free = Descriptor.freeBytes(descriptor), length - count > free { throw FileError(.noSpace, at: path) }
        guard place.isCounted, length > reserved else { return }
        guard FileSizeLimit.allows(length), ftruncate(descriptor, off_t(length)) == 0 else { throw .system(path) }
        reserved = length
    }

    /// Throws in a forked process, which has closed the file: the descriptor may now be that of another file.
    private func checkProcess() throws(FileError) {
        if ForkedProcess.isCurrent { throw FileError(.other, at: path, code: EBADF) }
    }

    private func makeCheckpoint() {
        // A whole body, or one that is too long, has no rest to request.
        guard record >= 0, count < wholeLength ?? .max else { return }
        let bytes = PartialRecord.encode(.init(count: count, checksum: checksum.value))
        var status = stat()
        guard fstat(record, &status) == 0, FileSizeLimit.allows(status.st_size + off_t(bytes.count)) else { return }
        if Foundation.write(record, Array(bytes), bytes.count) == bytes.count {
            checkpointed = count
        } else {
            // `decode` ignores a checkpoint that is cut short, and all that follow.
            ftruncate(record, status.st_size)
        }
    }

    /// Keeps the bytes for a later load, which may continue the file at once. From then on, this object must not write the file.
    /// If the body is complete, no checkpoint is added, so that the later load has a rest to request.
    package func keep() {
        if ForkedProcess.isCurrent { return }
        guard state.withLock({ $0.end() }) else { return }
        if count > checkpointed, !isComplete { makeCheckpoint() }
        if state.withLock({ $0.release(hasCheckpoint: checkpointed > 0) }) {
            ftruncate(descriptor, off_t(count))
        } else if state.withLock({ $0.removeName() }), let name {
            place.remove(name)
        }
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

    /// Cuts the file to the length of the body, which is complete.
    package func finish() throws(FileError) -> BodyFile {
        try checkProcess()
        guard ftruncate(descriptor, off_t(count)) == 0 else { throw .system(path) }
        reserved = count
        isComplete = true
        return BodyFile(self, checksum: checksum.value)
    }

    /// Removes the file's name, because the body was delivered or must not be kept. The open file stays readable. Does nothing if
    /// the cache has taken the file.
    package func drop() {
        if ForkedProcess.isCurrent { return }
        guard let name else { return }
        switch state.withLock({ $0.drop() }) {
        case .temporary, .resumable:
            place.remove(name)
            FileLock.release(descriptor)  // the file may be a caller's now
        case .released: place.whileIdle(name) { place.remove(name) }
        case .nameless, .adopted: break
        }
    }

    /// Notes that the cache has taken the file, which is now at one of these paths.
    func wasAdopted(at paths: [String]) {
        state.withLock { $0.adopt(at: paths) }
        if let name { unlink(place.recordPath(name)) }
        FileLock.release(descriptor)  // a caller may get a hard link to the file
    }

    /// The number of the file's names, not counting those at callers' destinations.
    var nameCount: Int {
        switch state.withLock({ $0.fate }) {
        case .nameless: 0
        case .temporary, .resumable, .released: 1
        case .adopted(let paths): FileSystem.isFile(descriptor, atOneOf: paths) ? 1 : 0
        }
    }

    /// Whether another load may be writing the file.
    var isReleased: Bool {
        if case .released = state.withLock({ $0.fate }) { true } else { false }
    }

    /// The path of the file; the folder if the file has no name.
    package var path: String { name.map(place.path) ?? place.folder }
}

extension KeptPartial {
    /// Opens the file to append the rest; nil if its bytes do not match the checkpoint, or if another load is writing it.
    package func open() -> PartialFile? { PartialFile(continuing: self) }
}
