import Foundation
import HTTPCaching
import ScriptedServer
import SynchronizerSupport
import SynchronizerTesting
import TestSupport
import TestTraits
import Testing

@testable import SQLiteCache

@Suite("Leases of a cache directory", .bounded)
struct LeaseTests {
    let directory = TemporaryDirectory()

    func file() -> LeaseFile { LeaseFile(directory: directory.files) }

    /// The token of a lease that is granted.
    func token(_ answer: LeaseFile.Answer) -> UInt64? {
        if case .granted(let grant) = answer { grant.token } else { nil }
    }

    func grant(_ key: UInt64 = 7, in file: LeaseFile, at now: Int64 = 1_000_000) throws -> LeaseFile.Grant {
        guard case .granted(let grant) = file.grant(key, at: now, for: 5000) else {
            throw SQLiteFailure.corruption("no lease")
        }
        return grant
    }

    // MARK: - The file

    @Test("one is granted at a time, and the tokens grow")
    func one() throws {
        let file = file()
        let first = try grant(in: file)
        #expect(self.file().grant(7, at: 1_000_001, for: 5000) == .held && file.look(at: 7, now: 1_000_001).isHeld)
        #expect(file.grant(7, at: 1_000_001, for: 5000) == .unavailable)  // a process does not wait for itself
        #expect(token(file.grant(8, at: 1_000_001, for: 5000)) == 1_000_001_000)  // a time, for a new slot
        file.release(first, at: 1_000_002)
        #expect(!file.look(at: 7, now: 1_000_003).isHeld)
        let second = try grant(in: file)
        #expect(second.token == first.token + 1)
        file.release(first, at: 1_000_004)  // is late
        #expect(file.look(at: 7, now: 1_000_004).isHeld)
        file.abandon(second)
        #expect(!file.look(at: 7, now: 1_000_004).isHeld && file.look(at: 7, now: 1_000_004).record.expires > 0)
    }

    @Test(
        "an expired one goes to the next process, and the late holder does not release it",
        arguments: [5000, 3_700_000, -1])
    func expiry(passed: Int64) throws {
        let file = file()
        let first = try grant(in: file)
        if passed > 0 { #expect(self.file().grant(7, at: 1_004_999, for: 5000) == .held) }
        // Also if the clock was set back by more than a lease can last.
        let later = passed > 0 ? 1_000_000 + passed : 1_000_000 - 3_600_001
        let other = self.file()
        #expect(try grant(in: other, at: later).token == first.token + 1)
        file.release(first, at: later + 1)
        #expect(other.look(at: 7, now: later + 1).isHeld && file.look(at: 7, now: later + 1).isHeld)
    }

    @Test("a release that another process overtakes between its look and its write does not end the next lease")
    func overtakenRelease() throws {
        let (file, other) = (self.file(), self.file())
        let first = try grant(in: file)
        // The other process is about to take the slot: it has the lock, and has not written its record.
        let taken = try grant(in: other, at: 1_006_000)
        let path = directory.url.appendingPathComponent("Leases").path
        let handle = try #require(FileHandle(forUpdatingAtPath: path))
        try handle.seek(toOffset: 7 * 32 + 8)
        var token = first.token.littleEndian
        try handle.write(contentsOf: withUnsafeBytes(of: &token) { Data($0) })
        file.release(first, at: 1_006_001)
        #expect(file.look(at: 7, now: 1_006_001).record.expires == 1_011_000 && taken.token == first.token + 1)
    }

    @Test("one whose holder has the lock, and has not written its record yet, is held, but not for ever")
    func halfTaken() throws {
        let (file, other) = (self.file(), self.file())
        file.release(try grant(in: file), at: 1_000_001)
        let path = directory.url.appendingPathComponent("Leases").path
        let handle = try #require(FileHandle(forUpdatingAtPath: path))
        func record() throws -> Data {
            try handle.seek(toOffset: 7 * 32)
            return try #require(try handle.read(upToCount: 32))
        }
        let before = try record()
        _ = try grant(in: other, at: 1_006_000)
        let after = try record()
        try handle.seek(toOffset: 7 * 32)
        try handle.write(contentsOf: before)
        for (now, answer) in [(1_006_000, .held), (1_006_099, .held), (1_006_100, .unavailable)]
            as [(Int64, LeaseFile.Answer)]
        {
            #expect(file.grant(7, at: now, for: 5000) == answer)
        }
        try handle.seek(toOffset: 7 * 32)
        try handle.write(contentsOf: after)
        #expect(file.grant(7, at: 1_006_101, for: 5000) == .held)
    }

    @Test("the longest one is held, too, for a process that read the clock before its holder")
    func longest() throws {
        let (file, other) = (self.file(), self.file())
        #expect(token(file.grant(7, at: 1_000_000, for: .max)) != nil)
        #expect(other.grant(7, at: 999_000, for: 5000) == .held)
    }

    // MARK: - Removals

    @Test("a removal concerns what other processes requested before, of this URL or of all")
    func removals() throws {
        let (file, other) = (self.file(), self.file())
        let start = Date(timeIntervalSince1970: 1_000_000)
        file.noteRemoval(of: 7, at: start)  // nothing, because no process takes leases here
        #expect(!FileManager.default.fileExists(atPath: directory.url.appendingPathComponent("Leases").path))
        _ = try grant(in: file)
        for url in [7, nil] as [UInt64?] {
            file.noteRemoval(of: url, at: start + 1)
            let isRemoved = { (file: LeaseFile, url: UInt64, requested: TimeInterval) in
                file.isRemoved(url, since: start + requested, now: start + 2)
            }
            #expect(isRemoved(other, 7, 0) && isRemoved(other, 7, 1) && !isRemoved(other, 7, 1.000_01))
            #expect(!isRemoved(file, 7, 0))  // it knows itself
            #expect(isRemoved(other, 8, 0) == (url == nil))
            // The clock was set back since.
            #expect(!other.isRemoved(7, since: start - 9, now: start))
        }
    }

    @Test("a removal that takes the mark of another process's removal concerns both processes")
    func sharedMark() throws {
        let (file, other, start) = (self.file(), self.file(), Date(timeIntervalSince1970: 1_000_000))
        _ = try grant(in: file)
        file.noteRemoval(of: 7, at: start + 1)
        other.noteRemoval(of: 7 + UInt64(LeaseFile.slots), at: start + 2)
        for file in [file, other] {
            #expect(file.isRemoved(7, since: start, now: start + 3))
            #expect(!file.isRemoved(7, since: start + 2.1, now: start + 3))
        }
        // `other` requested it before its removal was written to the mark, and knows that its own cache was empty by then.
        #expect(!other.isRemoved(7, since: start + 1.5, now: start + 3))
        #expect(file.isRemoved(7, since: start + 1.5, now: start + 3))
        // The clock of `file` is a little behind that of `other`: its removal may have been the later one.
        file.noteRemoval(of: 7, at: start + 1.9)
        #expect(file.isRemoved(7, since: start + 1.5, now: start + 3))
        #expect(self.file().isRemoved(7, since: start + 1.95, now: start + 3))
    }

    @Test("while another process holds the lock of a mark, a removal concerns its own process, too")
    func heldMark() throws {
        let (nanoseconds, start) = (Locked<UInt64>(0), Date(timeIntervalSince1970: 1_000_000))
        let timeout = BusyTimeout(
            seconds: 0.01, now: { nanoseconds.withLock { $0 } }, sleep: { nanoseconds.withLock { $0 += 1_000_000 } })
        let file = LeaseFile(directory: directory.files, markTimeout: timeout)
        _ = try grant(in: file)
        let other = open(directory.url.appendingPathComponent("Leases").path, O_RDWR | O_CLOEXEC)
        defer { close(other) }
        var lock = flock()
        (lock.l_type, lock.l_whence, lock.l_start, lock.l_len) = (Int16(F_WRLCK), Int16(SEEK_SET), 1 << 41, 1 << 40)
        #expect(fcntl(other, FileSystem.lockCommands.set, &lock) == 0)
        file.noteRemoval(of: 7, at: start + 1)
        #expect(file.isRemoved(7, since: start, now: start + 2))
        #expect(!file.isRemoved(7, since: start + 1.1, now: start + 2))
        #expect(nanoseconds.withLock { $0 } == 10_000_000)
        file.noteRemoval(of: 8, at: start + 1)  // it does not wait again at once
        #expect(file.isRemoved(8, since: start, now: start + 2))
        #expect(nanoseconds.withLock { $0 } == 10_000_000)
    }

    @Test("says whether a response may have been stored since the caller looked")
    func news() throws {
        let file = file()
        for (now, isNews) in [(1_000_000, false), (1_001_000, true), (1_012_000, false)] as [(Int64, Bool)] {
            let grant = try grant(in: file, at: now)
            #expect(grant.followsAnother == isNews)
            file.release(grant, at: now + 10)
        }
        #expect(try grant(in: LeaseFile(directory: directory.files), at: 2_000_000).followsAnother)
    }

    @Test("a forked process does not keep the leases of its parent")
    func fork() async throws {
        typealias Fork = @convention(c) () -> pid_t
        let fork = unsafeBitCast(try #require(dlsym(dlopen(nil, RTLD_NOW), "fork")), to: Fork.self)
        var (begun, end) = ([Int32](repeating: -1, count: 2), [Int32](repeating: -1, count: 2))
        try #require(pipe(&begun) == 0 && pipe(&end) == 0)
        defer { (begun + end).forEach { close($0) } }
        var holder: LeaseFile? = file()
        _ = try grant(in: try #require(holder))
        let (report, wait) = (begun[1], end[0])
        let child = fork()
        if child == 0 {
            var byte: UInt8 = 0
            _ = write(report, &byte, 1)
            _ = read(wait, &byte, 1)
            _exit(0)
        }
        var byte: UInt8 = 0
        #expect(child > 0 && read(begun[0], &byte, 1) == 1)
        let other = file()
        #expect(other.grant(7, at: 1_000_001, for: 5000) == .held)
        holder = nil  // as its process ends
        // A process that another test starts at the moment has the open file, too, until it runs its program.
        try await waitUntil("free") { !other.look(at: 7, now: 1_000_002).isHeld }
        _ = write(end[1], &byte, 1)
        waitpid(child, nil, 0)
    }

    @Test("a key whose slot another key has gets none")
    func collision() throws {
        let file = file()
        let first = try grant(in: file)
        let other = 7 + UInt64(LeaseFile.slots)
        #expect(file.grant(other, at: 1_000_001, for: 5000) == .unavailable)
        #expect(!file.look(at: other, now: 1_000_001).isHeld)
        file.release(first, at: 1_000_002)
        #expect(try !grant(other, in: file).followsAnother)
    }

    @Test("where there are no such locks, there are no leases, and nothing waits")
    func withoutLocks() {
        let file = LeaseFile(directory: directory.files, commands: (set: 9999, get: 9999))
        for now in [1_000_000, 1_000_001, 1_000_200] as [Int64] {
            #expect(file.grant(7, at: now, for: 5000) == .unavailable)
        }
        let taken = self.file()
        #expect(token(taken.grant(7, at: 1_000_300, for: 5000)) != nil)
        // It knows its own removals there, too.
        file.noteRemoval(of: 7, at: Date(timeIntervalSince1970: 1001))
        let since = Date(timeIntervalSince1970: 1000)
        #expect(!file.isRemoved(7, since: since, now: since + 2))
        #expect(self.file().isRemoved(7, since: since, now: since + 2))
    }

    @Test("a clock before 1970 ends nothing")
    func earlyClock() throws {
        let path = directory.url.appendingPathComponent("Leases").path
        try directory.files.prepare()
        let words = [7, 1, UInt64(Int64.max), 1].map(\.littleEndian)
        try (Data(count: 7 * 32) + words.withUnsafeBytes { Data($0) }).write(to: URL(fileURLWithPath: path))
        #expect(token(file().grant(7, at: -1000, for: 5000)) == 2)
    }

    @Test("any content of the file is valid", arguments: [0x00, 0xff, 0x5a] as [UInt8])
    func garbage(byte: UInt8) throws {
        try directory.files.prepare()
        try Data(repeating: byte, count: 4096).write(to: directory.url.appendingPathComponent("Leases"))
        let file = file()
        for key in 0..<UInt64(200) {
            let first = try grant(key, in: file)
            #expect(self.file().grant(key, at: 1_000_001, for: 5000) == .held)
            file.release(first, at: 1_000_002)
            #expect(file.look(at: key, now: 1_000_003).isHeld == false)
        }
    }

    @Test("a file that is truncated or removed under the process costs leases, and nothing else")
    func removal() throws {
        let file = file()
        let path = directory.url.appendingPathComponent("Leases").path
        let first = try grant(in: file)
        #expect(truncate(path, 0) == 0)
        #expect(!file.look(at: 7, now: 1_000_000).isHeld)
        try FileManager.default.removeItem(atPath: path)
        let second = try grant(in: file, at: 1_002_000)
        #expect(second.token > first.token)
        file.release(first, at: 1_002_001)
        #expect(file.look(at: 7, now: 1_002_001).isHeld)
        #expect(FileSystem.status(path)?.st_mode == S_IFREG | 0o600)
        #expect(rename(path, path + "-away") == 0)
        #expect(try grant(8, in: file, at: 1_003_001).token > 0 && FileSystem.status(path) != nil)
    }

    @Test(
        "anything else in the place of the file is replaced, unless it is a directory with files",
        arguments: ["directory", "link", "fifo", "names", "files"])
    func places(kind: String) throws {
        try directory.files.prepare()
        let path = directory.url.appendingPathComponent("Leases").path
        let other = directory.url.appendingPathComponent("other").path
        try Data().write(to: URL(fileURLWithPath: other))
        switch kind {
        case "directory": #expect(mkdir(path, 0o700) == 0)
        case "link": #expect(symlink(other, path) == 0)
        case "fifo": #expect(mkfifo(path, 0o600) == 0)
        case "files": try FileManager.default.createDirectory(atPath: path + "/x", withIntermediateDirectories: true)
        default: #expect(link(other, path) == 0)
        }
        #expect((token(file().grant(7, at: 0, for: 5000)) != nil) == (kind != "files"))
        #expect(try Data(contentsOf: URL(fileURLWithPath: other)).isEmpty)
        if kind == "files" { #expect(FileSystem.status(path + "/x") != nil) }
    }
}
