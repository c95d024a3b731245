import Foundation

/// A file system, and the space on it.
package struct Volume: Sendable {
    package var id: UInt64
    /// The bytes that it has left for this user.
    package var freeBytes: Int

    package init(id: UInt64, freeBytes: Int) {
        (self.id, self.freeBytes) = (id, freeBytes)
    }

    /// The one that a path is on; nil if the system doesn't say.
    package init?(of path: String) {
        let file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0, let free = Descriptor.freeBytes(file) else { return nil }
        self.init(id: UInt64(truncatingIfNeeded: status.st_dev), freeBytes: free)
    }
}
