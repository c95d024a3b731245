import Foundation
import SQLiteCache
import TestSupport

/// Does what it is told, a line at a time, and answers each with one line: what `Scripts/torture` drives. A wrong body
/// ends the process with `wrong: …`.
///
/// Each body says which key it belongs to, and which of its versions it is.
struct Service {
    let cache: SQLiteURLCache
    private let seed: UInt64

    init(_ cache: SQLiteURLCache, seed: Int) {
        self.cache = cache
        self.seed = UInt64(seed)
    }

    func run() {
        say("ready")
        while let line = readLine() {
            let words = line.split(separator: " ")
            let numbers = words.dropFirst().compactMap { Int($0) }
            let start = DispatchTime.now().uptimeNanoseconds
            let answer = perform(words.first ?? "", numbers)
            say("\(answer) \((DispatchTime.now().uptimeNanoseconds - start) / 1_000_000)")
        }
        cache.flush()
        say("done")
    }

    /// - Returns: a number that says how it went; `run` adds the milliseconds that it took.
    private func perform(_ command: Substring, _ numbers: [Int]) -> Int {
        switch (command, numbers.count) {
        case ("fill", 4): fill(numbers[0]..<numbers[1], size: numbers[2], version: numbers[3])
        case ("check", 2): (numbers[0]..<numbers[1]).count { find($0) != nil }
        case ("version", 1): find(numbers[0]) ?? -1
        case ("probe", 1): probe(numbers[0], seconds: 10)
        case ("hammer", 4), ("hammerall", 4):
            hammer(
                milliseconds: numbers[0], threads: numbers[1], keys: numbers[2], largest: numbers[3],
                removesAll: command == "hammerall")
        case ("lease", 0): done { useLease("key") }
        case ("flush", 0): done { cache.flush() }
        case ("store", 3): done { store(numbers[0], version: numbers[1], size: numbers[2]) }
        case ("remove", 1): done { cache.removeCachedResponse(for: request(numbers[0])) }
        case ("removeall", 0): done { cache.removeAllCachedResponses() }
        case ("capacity", 1): done { cache.diskCapacity = numbers[0] }
        case ("usage", 0): cache.currentDiskUsage
        case ("entries", 0): cache.statistics.entries
        case ("corrupt", 0): cache.statistics.corruptEntriesDropped
        case ("variants", 1): storeVariants(numbers[0])
        case ("slowest", 2): slowest(milliseconds: numbers[0], keys: numbers[1])
        case ("descriptors", 1): limit(.descriptors, numbers[0])
        case ("memory", 1): limit(.addressSpace, numbers[0])
        case ("fork", 0): useInFork()
        default: fail("there is no command \(command) with \(numbers.count) numbers")
        }
    }

    private func done(_ body: () -> Void) -> Int {
        body()
        return 0
    }

    // MARK: - The cache

    func request(_ key: Int) -> URLRequest {
        guard let request = StorageChurn.request(key) else { fail("no URL") }
        return request
    }

    private func store(_ key: Int, version: Int, size: Int) {
        store(key, version: version, size: size, as: StorageChurn.fileResponse)
    }

    private func store(_ key: Int, version: Int, size: Int, as response: URLResponse) {
        let body = StorageChurn.body(seed: seed, step: version, key: key, size: max(32, size))
        cache.storeCachedResponse(CachedURLResponse(response: response, data: body), for: request(key))
    }

    /// Stores a response with an object that was made from its body.
    private func storeWithObject(_ key: Int, version: Int, size: Int) {
        guard let url = request(key).url,
            let response = HTTPURLResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: [:])
        else { fail("no response") }
        store(key, version: version, size: size, as: response)
        guard let (source, body) = source(of: key) else { return }
        cache.keepDerivedObject(Data(body.reversed()), as: "object", of: source)
    }

    /// Stores another body for the response of a key, which arrives in a file.
    private func storeFile(_ key: Int, version: Int, size: Int) {
        let url = request(key).url?.absoluteString ?? ""
        let body = StorageChurn.body(seed: seed, step: version, key: key, size: max(32, size))
        guard let response = cache.entries(for: url).first?.response,
            let partial = cache.makePartial(for: url, resumable: response, length: body.count)
        else { return }
        let cached = CachedURLResponse(response: StorageChurn.fileResponse, data: Data())
        do {
            try body.withUnsafeBytes { try partial.append($0) }
            _ = cache.store(response, as: cached, file: try partial.finish())
        } catch {}  // the disk is full, or the file was replaced
    }

    private func useLease(_ key: String) {
        if case .granted(let lease) = cache.lease(key, for: 1) { cache.release(lease) }
    }

    private func source(of key: Int) -> (DerivedSource, body: Data)? {
        guard let entry = cache.entries(for: request(key).url?.absoluteString ?? "").first,
            let body = cache.body(of: entry)
        else { return nil }
        let checksum = body.withUnsafeBytes { Checksum64.of($0) }
        return (DerivedSource(entry: entry.id, checksum: checksum, bodySize: body.count), body)
    }

    private func checkObject(_ key: Int) {
        guard let (source, body) = source(of: key), let object = cache.derivedObject("object", of: source) else {
            return
        }
        if object != Data(body.reversed()) { fail("the object of \(key) is another") }
    }

    /// The version that is stored; nil if there is none.
    func find(_ key: Int) -> Int? {
        guard let found = cache.cachedResponse(for: request(key)) else { return nil }
        guard let body = StorageChurn.identify(found.data, key: key) else { fail("the body of \(key) is another") }
        return body.step
    }

    private func fill(_ keys: Range<Int>, size: Int, version: Int) -> Int {
        for key in keys { store(key, version: version, size: size) }
        cache.flush()
        return keys.count
    }

    /// Stores until the disk has taken it; the milliseconds that this needed, or -1 after some seconds.
    private func probe(_ version: Int, seconds: TimeInterval) -> Int {
        let start = Date()
        while Date().timeIntervalSince(start) < seconds {
            store(Int(500_000_000 + seed), version: version, size: 100)
            cache.flush()
            if find(Int(500_000_000 + seed)) == version { return Int(Date().timeIntervalSince(start) * 1000) }
            usleep(20_000)
        }
        return -1
    }

    /// Everything at once; returns the milliseconds that the slowest call took.
    ///
    /// - Parameter removesAll: whether all entries are removed now and then.
    private func hammer(milliseconds: Int, threads: Int, keys: Int, largest: Int, removesAll: Bool) -> Int {
        let end = Date().addingTimeInterval(Double(milliseconds) / 1000)
        let slowest = Slowest()
        DispatchQueue.concurrentPerform(iterations: threads) { thread in
            var random = SystemRandomNumberGenerator()
            var step = 0
            while Date() < end {
                step += 1
                let key = 1000 + Int.random(in: 0..<keys, using: &random)
                slowest.time {
                    switch Int.random(in: 0..<20, using: &random) {
                    case 0..<6:
                        store(key, version: step, size: 1 << Int.random(in: 5...max(5, largest), using: &random))
                    case 6..<8:
                        let size = 1 << Int.random(in: 5...max(5, largest), using: &random)
                        storeWithObject(key, version: step, size: size)
                    case 10..<13: checkObject(key)
                    case 8: cache.removeCachedResponse(for: request(key))
                    case 9 where step % 16 == 0: cache.flush()
                    case 13 where removesAll && step % 64 == 0: cache.removeAllCachedResponses()
                    case 14:
                        let size = 1 << Int.random(in: 5...max(5, largest), using: &random)
                        storeFile(key, version: step, size: size)
                    case 15: useLease("\(key)")
                    default: _ = find(key)
                    }
                }
            }
        }
        return slowest.milliseconds
    }

    // MARK: - What the unit tests run

    func checkForks() {
        _ = fill(0..<20, size: 3000, version: 1)
        let log = Pipe()
        dup2(log.fileHandleForWriting.fileDescriptor, STDERR_FILENO)
        // Another thread holds one lock or another when the process is forked.
        Thread.detachNewThread { [cache] in
            while true {
                cache.invalidations.note(["x"], at: Date())
                _ = (cache.refusal(toStore: 1, policy: .allowed), cache.isLeaseHeld("key"), cache.memoryCapacity)
            }
        }
        for _ in 0..<4 { Thread.detachNewThread { while true { _ = MonotonicID.next() } } }
        for _ in 0..<40 where useInFork() != 0 { fail("a forked process crashed, or found something") }
        FileHandle.standardError.write(Data("end".utf8))  // so that there is something to read
        let lines = String(decoding: log.fileHandleForReading.availableData, as: UTF8.self).split(separator: "\n")
        guard lines.count == 41, lines.dropLast().allSatisfy({ $0.contains("forked") }) else { fail("\(lines)") }
        guard perform("check", [0, 20]) == 20, find(1) == 1, probe(1, seconds: .infinity) >= 0 else {
            fail("entries are gone")
        }
    }

    func checkShortages() {
        _ = fill(0..<1, size: 96 << 20, version: 1)
        _ = fill(1..<30, size: 40_000, version: 1)
        var shortages = [(Kind.descriptors, 3)]
        #if os(Linux)  // macOS does not limit the address space
            let used = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8))?.split(separator: " ").first
            shortages.append((.addressSpace, (used.flatMap { Int($0) } ?? 0) * 4096 + 40 << 20))
        #endif
        for (kind, value) in shortages {
            guard limit(kind, value) == 0 else { fail("setrlimit") }
            let found = perform("check", [0, 30])
            guard limit(kind, 0) == 0 else { fail("setrlimit") }
            if found == 30 { fail("nothing was short") }
            guard perform("check", [0, 30]) == 30 else { fail("entries are gone after \(kind)") }
        }
        guard cache.statistics.corruptEntriesDropped == 0 else { fail("\(cache.statistics)") }
    }

    // MARK: - The process

    /// Uses the cache in a copy of this process, and waits until that has ended; 0 if it ended as it should.
    private func useInFork() -> Int {
        typealias Fork = @convention(c) () -> pid_t
        guard let symbol = dlsym(dlopen(nil, RTLD_NOW), "fork") else { return -1 }
        var partial = cache.makePartial(for: "https://example.com/partial", resumable: nil, length: 100)
        let child = unsafeBitCast(symbol, to: Fork.self)()  // Swift hides it
        if child == 0 {
            let isRefused =
                cache.refusal(toStore: 1, policy: .allowed) == .diskFailed
                && cache.invalidations.isInvalid("y", since: 0)
                && !cache.isLeaseHeld("key") && partial.map { cache.grow($0, to: 200) } == false
            partial = nil  // its file stays, and stays locked
            store(1, version: 9, size: 100)
            cache.flush()
            _ = (cache.currentDiskUsage, cache.statistics, cache.hasCapacity, MonotonicID.next())
            exit(isRefused && find(1) == nil && find(2) == nil ? 0 : 1)  // the functions of `atexit` run, too
        }
        var status: Int32 = 0
        while waitpid(child, &status, 0) == -1, errno == EINTR {}
        let names = FileManager.default.subpaths(atPath: directory.path) ?? []
        return withExtendedLifetime(partial) { names.contains { $0.contains("/Partial/") } ? Int(status) : -1 }
    }

    private enum Kind {
        case descriptors
        case addressSpace
    }

    /// Allows no more than that in use; 0 lifts the limit.
    private func limit(_ kind: Kind, _ value: Int) -> Int {
        #if !canImport(Darwin)
            let resource = __rlimit_resource_t((kind == .descriptors ? RLIMIT_NOFILE : RLIMIT_AS).rawValue)
        #else
            let resource = kind == .descriptors ? RLIMIT_NOFILE : RLIMIT_AS
        #endif
        var limits = rlimit()
        guard getrlimit(resource, &limits) == 0 else { return -1 }
        limits.rlim_cur = value == 0 ? limits.rlim_max : rlim_t(value)
        return Int(setrlimit(resource, &limits))
    }
}
