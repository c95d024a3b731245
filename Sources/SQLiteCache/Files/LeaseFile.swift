import Foundation
import SynchronizerSupport

/// The leases of a cache directory, in a file that its processes share: a slot for each key, found by the key's hash.
///
/// A slot has a record, and a lock for each of the next tokens (`fcntl`). The holder of a lease holds the lock of its token. The
/// system frees the lock when the process ends, however it ends, so other processes see that the holder has died. The same lock
/// decides which of several processes gets a token. A holder that never releases its lease keeps the lock, and loses the
/// slot when the lease expires. A key whose slot is taken by another key gets no lease.
///
/// After the slots come marks, found by the hash of a URL. A mark says when a process removed the entries of a URL with that
/// hash. Other processes do not store a response that they requested before that moment. The file has a fixed size, so there is
/// nothing to clean up. Any content is valid: an implausible record counts as expired.
final class LeaseFile: Sendable {
    struct Grant: Hashable, Sendable {
        let key: UInt64
        let token: UInt64
        /// Whether a response may have been stored since the caller looked it up: another process had the previous lease of
        /// the key, or the previous lease was not released, or only a moment ago.
        let followsAnother: Bool
    }

    enum Answer: Hashable, Sendable {
        case granted(Grant)
        case held
        case unavailable
    }

    /// A slot as it is in the file.
    struct Record: Hashable, Sendable {
        var key: UInt64 = 0
        var token: UInt64 = 0
        /// When the lease expires, in milliseconds since 1970. After its release: when it was released, as a negative number.
        var expires: Int64 = 0
        /// The instance that got the lease.
        var owner: UInt64 = 0
    }

    private struct State {
        var file: Int32 = -1
        /// When the file was last seen in its directory, in milliseconds.
        var checkedAt: Int64 = 0
        /// The leases that this instance holds, by slot: it does not see its own locks.
        var held: [Int: UInt64] = [:]
        /// The records that another process is replacing, by slot, and since when.
        var taken: [Int: (old: Record, since: Int64)] = [:]
        /// The times of other processes' marks that this instance has overwritten, or may have, by position, in microseconds.
        var overwritten: [Int: UInt64] = [:]
    }

    /// In milliseconds. A record of a longer lease counts as expired. Leases are granted for half of this at most, because a
    /// process that looks at a record may have read the clock before the holder did.
    static let longest: Int64 = 3_600_000
    /// The milliseconds in which a process that got a lock must write the record of its lease. Otherwise it counts as hanging.
    private static let writing: Int64 = 100
    static let slots = 8192
    /// The longest time between the lookup of a caller and its grant, in milliseconds.
    private static let recently: Int64 = 10_000
    private let directory: CacheDirectory
    let commands: FileSystem.LockCommands
    private let markTimeout: BusyTimeout
    private let owner = UInt64.random(in: 1 ... .max)
    private let state = Locked(State())

    /// - Parameter markTimeout: how long to wait for the lock of a mark, which other processes hold for some microseconds.
    init(
        directory: CacheDirectory, commands: FileSystem.LockCommands = FileSystem.lockCommands,
        markTimeout: BusyTimeout = BusyTimeout(seconds: 0.01, sleep: { usleep(100) })
    ) {
        (self.directory, self.commands, self.markTimeout) = (directory, commands, markTimeout)
    }

    deinit {
        ForkedProcess.close(state.withLock { $0.file })
    }

    /// Grants a lease unless there is one; `now` and `duration` are in milliseconds. A process never waits for itself: if it
    /// holds the lease already, the answer is `unavailable`.
    func grant(_ key: UInt64, at now: Int64, for duration: Int64) -> Answer {
        state.withLock { state in
            let slot = Self.slot(of: key)
            guard let file = open(&state, at: now) else { return .unavailable }
            let old = Self.read(slot, of: file)
            if isHeld(old, in: slot, at: now, state: state) {
                return old.key == key && state.held[slot] != old.token ? .held : .unavailable
            }
            // The first token of a slot is a time, so that it differs from all tokens of a file that was removed.
            let token = old.token == 0 ? UInt64(max(1, now)) &* 1000 : old.token &+ 1
            guard set(F_WRLCK, at: Self.lock(ofToken: token, in: slot), of: file) else {
                // Any other error means that the file system has no such locks.
                guard [EAGAIN, EACCES].contains(errno) else { return .unavailable }
                return isTaken(slot, of: file, after: old, at: now, state: &state) ? .held : .unavailable
            }
            state.taken[slot] = nil
            // Another process may have had this token since `old` was read.
            let isNext = Self.read(slot, of: file) == old
            let record = Record(
                key: key, token: token, expires: now + min(max(1, duration), Self.longest / 2), owner: owner)
            guard isNext, Self.write(record, in: slot, of: file) else {
                set(F_UNLCK, at: Self.lock(ofToken: token, in: slot), of: file)
                return isNext ? .unavailable : .held
            }
            state.held[slot] = token
            let isNews = old.owner != owner || old.expires > 0 || now &+ old.expires < Self.recently
            return .granted(Grant(key: key, token: token, followsAnother: old.key == key && isNews))
        }
    }

    /// Whether the process that has the lock of the next token has written its record, or may be about to write it. Otherwise
    /// that process hangs, or still has this lock from a lease that is long over.
    private func isTaken(
        _ slot: Int, of file: Int32, after old: Record, at now: Int64, state: inout State
    ) -> Bool {
        guard Self.read(slot, of: file) == old else { return true }
        if let taken = state.taken[slot], taken.old == old { return abs(now - taken.since) < Self.writing }
        state.taken[slot] = (old, now)
        return true
    }

    /// Writes the moment of the release, unless another lease has the slot by now.
    func release(_ grant: Grant, at now: Int64) {
        state.withLock { state in
            let (slot, file) = (Self.slot(of: grant.key), state.file)
            guard file >= 0 else { return }
            defer { unlock(grant, state: &state) }
            // While this process has the lock of the next token, no other process gets the slot.
            let next = Self.lock(ofToken: grant.token &+ 1, in: slot)
            guard state.held[slot] == grant.token, set(F_WRLCK, at: next, of: file) else { return }
            defer { set(F_UNLCK, at: next, of: file) }
            guard Self.read(slot, of: file).token == grant.token else { return }
            let released = (-now).littleEndian
            _ = withUnsafeBytes(of: released) {
                Descriptor.write($0, to: file, at: slot * Self.size + Self.expiryOffset)
            }
        }
    }

    /// Only frees the lock, as the system does when the holder dies.
    func abandon(_ grant: Grant) {
        state.withLock { if $0.file >= 0 { unlock(grant, state: &$0) } }
    }

    private func unlock(_ grant: Grant, state: inout State) {
        let slot = Self.slot(of: grant.key)
        let lock = Self.lock(ofToken: grant.token, in: slot)
        if state.held[slot] == grant.token { state.held[slot] = nil }
        // A later token that this instance holds may have the same lock.
        if let held = state.held[slot], Self.lock(ofToken: held, in: slot) == lock { return }
        set(F_UNLCK, at: lock, of: state.file)
    }

    /// The record of the key's slot, and whether the lease of that key is held.
    func look(at key: UInt64, now: Int64) -> (record: Record, isHeld: Bool) {
        state.withLock { state in
            guard state.file >= 0 else { return (Record(), false) }
            let slot = Self.slot(of: key)
            let record = Self.read(slot, of: state.file)
            if record.key == key, isHeld(record, in: slot, at: now, state: state) { return (record, true) }
            // The holder may have written its release after the first reading, and then freed the lock.
            return (Self.read(slot, of: state.file), false)
        }
    }

    /// Whether the lease has neither been released nor expired, and its holder lives.
    private func isHeld(_ record: Record, in slot: Int, at now: Int64, state: State) -> Bool {
        guard record.expires > now, record.expires &- now <= Self.longest else { return false }
        return state.held[slot] == record.token
            || isLocked(Self.lock(ofToken: record.token, in: slot), of: state.file)
    }

    /// The open file. If the file was removed or replaced, which is noticed within a second, this opens another one.
    ///
    /// - Parameter creates: whether to create the file if there is none. Without a file there are no leases, so no mark is needed.
    private func open(_ state: inout State, at now: Int64, creates: Bool = true) -> Int32? {
        if state.file >= 0, abs(now - state.checkedAt) < 1000 { return state.file }
        if state.file < 0 || !FileSystem.isFile(state.file, atOneOf: [directory.leases]) {
            if creates, (try? directory.prepare()) == nil { return nil }
            FileSystem.resetMode(directory.leases)
            guard let file = Self.openFile(directory.leases, creates: creates) else { return nil }
            ForkedProcess.close(state.file)
            ForkedProcess.willClose(file)
            (state.file, state.held, state.taken) = (file, [:], [:])
        }
        state.checkedAt = now
        return state.file
    }
}

// MARK: - Removals

extension LeaseFile {
    /// Notes that this process is about to remove the entries of a URL, or all entries (nil).
    func noteRemoval(of url: UInt64?, at now: Date) {
        state.withLock { state in
            guard let file = open(&state, at: now.milliseconds, creates: false) else { return }
            let (position, time) = (Self.mark(of: url), now.microseconds)
            let isContended = !lockMark(at: position, of: file)
            defer { set(F_UNLCK, at: Self.lock(ofMarkAt: position), of: file) }
            let old = Self.readMark(at: position, in: file)
            if let old, old.owner != owner, old.time > 0 { state.overwritten[position] = min(old.time, time) }
            // Another process may be writing its mark at this moment.
            if isContended { state.overwritten[position] = time }
            // If another process has read its clock a little later, its later time stays.
            let latest = old.map { (time...time + 1_000_000).contains($0.time) ? $0.time : time } ?? time
            let words = (latest.littleEndian, owner.littleEndian)
            _ = withUnsafeBytes(of: words) { Descriptor.write($0, to: file, at: position) }
        }
    }

    /// Waits for a lock that other processes hold for some microseconds. Returns false if a process holds it for longer. If the
    /// file system has no such locks, there are no leases either, so no lock is needed.
    private func lockMark(at position: Int, of file: Int32) -> Bool {
        var start: UInt64?
        while !set(F_WRLCK, at: Self.lock(ofMarkAt: position), of: file) {
            guard [EAGAIN, EACCES].contains(errno) else { return true }
            guard markTimeout.wait(since: &start) else { return false }
        }
        return true
    }

    /// Whether another process has removed the entries of the URL since a response was requested. Marks of this process do not
    /// count, because its `InvalidationLog` knows exactly which responses its removals concern.
    func isRemoved(_ url: UInt64, since requested: Date, now: Date) -> Bool {
        let times = requested.microseconds...max(requested.microseconds, now.microseconds)
        return state.withLock { state in
            let marks = [Self.mark(of: nil), Self.mark(of: url)]
            if marks.contains(where: { state.overwritten[$0].map(times.contains) ?? false }) { return true }
            guard let file = open(&state, at: now.milliseconds, creates: false) else { return false }
            return marks.contains { position in
                Self.readMark(at: position, in: file).map { $0.owner != owner && times.contains($0.time) } ?? false
            }
        }
    }

    /// The time of a mark, in microseconds since 1970, and the instance that wrote it. Nil if the file ends before the mark.
    private static func readMark(at position: Int, in file: Int32) -> (time: UInt64, owner: UInt64)? {
        var words = (UInt64(0), UInt64(0))
        let count = withUnsafeMutableBytes(of: &words) { pread(file, $0.baseAddress, $0.count, off_t(position)) }
        return count == markSize ? (UInt64(littleEndian: words.0), UInt64(littleEndian: words.1)) : nil
    }

    /// The position of the mark of a URL, or of the mark for all URLs (nil).
    private static func mark(of url: UInt64?) -> Int {
        slots * size + (url.map { 1 + Int($0 % UInt64(slots)) } ?? 0) * markSize
    }
}
