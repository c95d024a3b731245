import Foundation
import SQLiteCache
import TestSupport

/// What is not open to this process for a while, as on a full disk or in a program with too many files.
enum Shortage {
    /// No file may grow beyond so many bytes.
    case fileSize(Int)
    case descriptors

    #if !canImport(Darwin)
        private typealias Resource = __rlimit_resource_t
        private static let resources = (Resource(RLIMIT_FSIZE.rawValue), Resource(RLIMIT_NOFILE.rawValue))
    #else
        private static let resources = (RLIMIT_FSIZE, RLIMIT_NOFILE)
    #endif

    /// Lets it be short while `body` runs.
    func during(_ body: () -> Void) {
        // A write that raises this signal ends the process. The thread that started the process may have blocked it.
        signal(SIGXFSZ, SIG_DFL)
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGXFSZ)
        pthread_sigmask(SIG_UNBLOCK, &signals, nil)
        let (resource, value) =
            switch self {
            case .fileSize(let bytes): (Self.resources.0, bytes)
            case .descriptors: (Self.resources.1, 0)
            }
        var before = rlimit()
        guard getrlimit(resource, &before) == 0 else { fail("getrlimit") }
        var short = before
        short.rlim_cur = rlim_t(value)
        guard setrlimit(resource, &short) == 0 else { fail("setrlimit") }
        body()
        guard setrlimit(resource, &before) == 0 else { fail("setrlimit") }
    }
}

/// A cache on a disk that is full for a while.
struct FullDisk {
    private let directory: URL
    private let clock = ManualClock()
    private let log = Pipe()
    private let cache: SQLiteURLCache

    init(_ directory: URL) {
        self.directory = directory
        _ = fcntl(log.fileHandleForReading.fileDescriptor, F_SETFL, O_NONBLOCK)
        dup2(log.fileHandleForWriting.fileDescriptor, STDERR_FILENO)
        cache = SQLiteURLCache(memoryCapacity: 4 << 20, diskCapacity: 8 << 20, directory: directory, time: clock)
    }

    /// Stores come and go while nothing can be written: the entries of others stay, and one line says so.
    func checkStores(_ shortage: Shortage) {
        if case .fileSize = shortage { store(2...3) }
        shortage.during {
            for key in 10..<14 {
                store(key...key)
                remember(key)
            }
            // Some of these come while others are being given up.
            store(20...80)
            cache.flush()
        }
        guard lines.count == 1 else { fail("\(lines)") }
        for key in [1, 10, 13, 20, 80] { remember(key) }
        clock.advance(by: 61)
        store(90...90)
        cache.close()
        cache.memoryCapacity = 0
        for key in [1, 90] { remember(key) }
        guard find(10) == nil else { fail("the disk was not full") }
    }

    /// A removal that can't be written takes the database with it, and not what memory has.
    func checkRemoval() {
        store(2...3)
        Shortage.fileSize(0).during {
            cache.removeCachedResponse(for: request(1))
            cache.flush()
            guard find(1) == nil else { fail("it is still there") }
            remember(2)
        }
        clock.advance(by: 61)
        store(4...4)
        cache.close()
        cache.memoryCapacity = 0
        guard find(1) == nil else { fail("it came back") }
        remember(4)
    }

    /// The database can grow, and a file for a body can't.
    func checkLargeBodies() {
        Shortage.fileSize(70_000).during {
            store(5...5, size: 80_000)
            store(6...6)
        }
        for key in 5...6 { remember(key) }
        guard cache.statistics.entries == 3 else { fail("\(cache.statistics)") }
        clock.advance(by: 2)  // memory asks the database whether anything has changed, and no longer trusts itself
        for key in [1, 5, 6] { remember(key) }
    }

    /// Writes on this thread fail, and raise no signal. Threads of dispatch queues block it.
    func checkOwnThread() {
        store(2...3)
        let url = "https://example.com/partial"
        guard let file = cache.makePartial(for: url, resumable: nil, length: 1 << 20) else { fail("no file") }
        Shortage.fileSize(1 << 19).during {
            let body = [UInt8](repeating: 1, count: 600_000)
            if (try? body.withUnsafeBytes { try file.append($0) }) != nil { fail("the body was written") }
            if cache.makePartial(for: url, resumable: nil, length: 1 << 20) != nil { fail("a file is too long") }
        }
        Shortage.fileSize(0).during {
            if cache.makePartial(for: url, resumable: nil, length: 1 << 20) != nil { fail("a file is not empty") }
        }
        for key in [2, 3] { remember(key) }
    }

    /// Objects that can't be written are not there, and nothing else is gone.
    func checkObjects() {
        store(2...3, size: 20_000)
        keepObject(2)
        cache.flush()
        Shortage.fileSize(0).during {
            for key in [3, 1] {
                keepObject(key)
                cache.flush()
            }
            guard hasObject(2) else { fail("an object is gone") }
        }
        for key in 1...3 { remember(key) }
        _ = (hasObject(1), hasObject(3))
        clock.advance(by: 61)
        keepObject(3)
        cache.close()
        guard hasObject(2), hasObject(3) else { fail("an object is gone, or was not written") }
    }

    private func source(_ key: Int) -> DerivedSource {
        guard let entry = cache.entries(for: request(key).url?.absoluteString ?? "").first,
            let body = cache.body(of: entry)
        else { fail("\(key) is gone") }
        return DerivedSource(
            entry: entry.id, checksum: body.withUnsafeBytes { Checksum64.of($0) }, bodySize: entry.bodySize)
    }

    private func object(_ key: Int) -> Data { StorageChurn.body(seed: 3, step: key, key: key, size: 30_000) }

    private func keepObject(_ key: Int) {
        cache.keepDerivedObject(object(key), as: "object", of: source(key))
    }

    /// Whether it is there; if it is, it must be right.
    private func hasObject(_ key: Int) -> Bool {
        let found = cache.derivedObject("object", of: source(key))
        guard found == nil || found == object(key) else { fail("the object of \(key) is wrong") }
        return found != nil
    }

    /// What was logged.
    private var lines: [Substring] {
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = read(log.fileHandleForReading.fileDescriptor, &bytes, bytes.count)
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self).split(separator: "\n")
    }

    private func request(_ key: Int) -> URLRequest {
        guard let request = StorageChurn.request(key) else { fail("no URL") }
        return request
    }

    private func store(_ keys: ClosedRange<Int>, size: Int = 3000) {
        for key in keys {
            let body = StorageChurn.body(seed: 1, step: key, key: key, size: size)
            guard let url = request(key).url,
                let response = HTTPURLResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: [:])
            else { fail("no response") }
            cache.storeCachedResponse(CachedURLResponse(response: response, data: body), for: request(key))
        }
        if keys.count < 10 { cache.flush() }
    }

    private func find(_ key: Int) -> Int? {
        (cache.cachedResponse(for: request(key))?.data).flatMap { StorageChurn.identify($0, key: key)?.step }
    }

    private func remember(_ key: Int) {
        guard find(key) == key else { fail("\(key) is gone") }
    }
}
