import Foundation

/// The part of a file's status that differs after each change of the file.
struct FileStamp: Hashable, Sendable {
    let length: Int
    private let device: UInt64
    private let number: UInt64
    /// The number of names. A second one is a caller's hard link.
    let names: Int
    /// When content or status changed, in nanoseconds since 1970.
    let changed: Int64

    init(_ status: stat) {
        length = Int(clamping: status.st_size)
        device = UInt64(truncatingIfNeeded: status.st_dev)
        number = UInt64(truncatingIfNeeded: status.st_ino)
        names = Int(clamping: status.st_nlink)
        changed = FileStamp.nanoseconds(status.changeTime)
    }

    /// - Returns: nil if it is not a regular file, or if its status can't be read.
    init?(_ file: Int32) {
        var status = stat()
        guard fstat(file, &status) == 0, status.isRegularFile else { return nil }
        self.init(status)
    }

    /// Whether each change from that moment on leaves another stamp. Most file systems stamp changes with a clock that ticks at
    /// least every 10 ms. Some use full seconds, and some only even seconds.
    ///
    /// - Parameter moment: a result of `now()`.
    func isSettled(at moment: Int64) -> Bool {
        // An absurd time may have overflowed. Then the difference does, too, or the next change leaves another stamp anyway.
        moment &- changed > (changed % 1_000_000_000 == 0 ? 2_000_000_000 : 20_000_000)
    }

    /// The time of the clock that stamps files, in nanoseconds since 1970.
    static func now() -> Int64 {
        var time = timespec()
        clock_gettime(FileClock.identifier, &time)
        return nanoseconds(time)
    }

    private static func nanoseconds(_ time: timespec) -> Int64 {
        Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
    }
}
