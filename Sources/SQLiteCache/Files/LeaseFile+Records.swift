import Foundation
import SynchronizerSupport

// The layout of the file.
extension LeaseFile {
    /// Opens the file.
    ///
    /// - Parameter creates: whether to create the file if there is none. It replaces anything that is not a regular file of this
    ///   user, except a directory that is not empty, which does not belong to the cache.
    static func openFile(_ path: String, creates: Bool) -> Int32? {
        let flags = O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | (creates ? O_CREAT : 0)
        for isLastTry in [false, true] {
            let file = Foundation.open(path, flags, 0o600)
            var status = stat()
            if file >= 0, fstat(file, &status) == 0, status.isOwnFile {
                if status.st_size > length { ftruncate(file, off_t(length)) }
                return file
            }
            if file >= 0 { close(file) }
            guard creates, !isLastTry, FileSystem.status(path)?.isOwnFile == false,
                unlink(path) == 0 || rmdir(path) == 0
            else { break }
        }
        return nil
    }

    static let (size, expiryOffset) = (32, 16)
    static let markSize = 16
    /// The length of a file with all slots and marks, in bytes.
    private static let length = slots * size + (1 + slots) * markSize

    /// The bytes that the file takes on the disk. If another program has made the file longer, the surplus does not count: it must not
    /// evict entries, and is cut when it is opened.
    static func allocatedBytes(in directory: CacheDirectory) -> Int64 {
        min(FileSystem.allocatedBytes(directory.leases), Int64(length + 4095) / 4096 * 4096)
    }

    static func slot(of key: UInt64) -> Int { Int(key % UInt64(slots)) }

    static func read(_ slot: Int, of file: Int32) -> Record {
        var words = (UInt64(0), UInt64(0), UInt64(0), UInt64(0))
        let count = withUnsafeMutableBytes(of: &words) { pread(file, $0.baseAddress, size, off_t(slot * size)) }
        guard count == size else { return Record() }
        return Record(
            key: UInt64(littleEndian: words.0), token: UInt64(littleEndian: words.1),
            expires: Int64(bitPattern: UInt64(littleEndian: words.2)), owner: UInt64(littleEndian: words.3))
    }

    static func write(_ record: Record, in slot: Int, of file: Int32) -> Bool {
        let words = (
            record.key.littleEndian, record.token.littleEndian, UInt64(bitPattern: record.expires).littleEndian,
            record.owner.littleEndian
        )
        return withUnsafeBytes(of: words) { Descriptor.write($0, to: file, at: slot * size) }
    }

    /// The position of the lock of a token. It is beyond the end of the file: a lock needs no bytes in the file.
    static func lock(ofToken token: UInt64, in slot: Int) -> off_t { 1 << 40 + off_t(slot * 8 + Int(token % 8)) }

    /// The position of the lock of a mark.
    static func lock(ofMarkAt position: Int) -> off_t { 1 << 41 + off_t(position) }

    /// Sets or frees a lock of one byte; returns false, with `errno`, if that did not work.
    @discardableResult
    func set(_ type: Int32, at position: off_t, of file: Int32) -> Bool {
        Self.control(file, command: commands.set, type: type, at: position) != nil
    }

    /// Whether another process has the lock, or another instance (on Linux).
    func isLocked(_ position: off_t, of file: Int32) -> Bool {
        Self.control(file, command: commands.get, type: F_WRLCK, at: position)
            .map { Int32($0.l_type) != F_UNLCK } ?? false
    }

    static func control(_ file: Int32, command: Int32, type: Int32, at position: off_t) -> flock? {
        var lock = flock()
        (lock.l_type, lock.l_whence) = (Int16(type), Int16(SEEK_SET))
        (lock.l_start, lock.l_len) = (position, 1)
        return fcntl(file, command, &lock) == 0 ? lock : nil
    }
}
