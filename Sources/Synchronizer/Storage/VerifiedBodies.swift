import Foundation

/// Which body files have passed their digest in this process and were not touched since.
///
/// Digesting a large body takes as long as reading it. What was read a moment ago comes out of the system's memory, and
/// that does not decay; whoever writes to a file changes its stamp. A file is digested again after a minute all the
/// same: by then its bytes may have been dropped from memory, and come from the disk anew.
final class VerifiedBodies: Sendable {
    private struct Verified {
        let stamp: FileStamp
        /// On the system's clock, in nanoseconds since it was started.
        let time: UInt64
    }

    private let verified = Locked<[BodyFile: Verified]>([:])
    private let now: @Sendable () -> Date
    private let largestCount = 4096
    private let lifetime: UInt64 = 60_000_000_000

    /// - Parameter now: the time by which files are stamped.
    init(now: @escaping @Sendable () -> Date = { Date() }) {
        self.now = now
    }

    /// The body of an entry, each byte of it verified.
    func read(_ body: BodyFile, in directory: CacheDirectory) -> DiskBody {
        guard let open = OpenBody(body.path(in: directory), length: body.length) else {
            return .missing(isStored: true)
        }
        if isVerified(body, open.stamp), let data = open.read(), open.isUntouched { return .whole(data) }
        guard let (data, digest) = open.readDigesting() else { return .missing(isStored: true) }
        guard digest == body.digest else {
            verified.withLock { $0[body] = nil }
            return .damaged
        }
        if open.isUntouched, open.stamp.isSettled(at: now()) { remember(body, open.stamp) }
        return .whole(data)
    }

    /// Whether it would be read without its digest.
    func isVerified(_ body: BodyFile, in directory: CacheDirectory) -> Bool {
        guard let open = OpenBody(body.path(in: directory), length: body.length) else { return false }
        return isVerified(body, open.stamp)
    }

    private func isVerified(_ body: BodyFile, _ stamp: FileStamp) -> Bool {
        let uptime = DispatchTime.now().uptimeNanoseconds
        return verified.withLock { verified in
            guard let known = verified[body] else { return false }
            return known.stamp == stamp && uptime - min(uptime, known.time) < lifetime
        }
    }

    private func remember(_ body: BodyFile, _ stamp: FileStamp) {
        let uptime = DispatchTime.now().uptimeNanoseconds
        verified.withLock { verified in
            if verified.count >= largestCount { verified = [:] }
            verified[body] = Verified(stamp: stamp, time: uptime)
        }
    }
}
