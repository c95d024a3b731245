import Foundation
import SQLiteCache
import TestSupport

/// Stores and looks up more than the disk takes, where it takes anything at all.
func checkMemoryStillWorks(_ cache: SQLiteURLCache) {
    for number in 0..<200 {
        guard let request = StorageChurn.request(number), let url = request.url else { fail("no URL") }
        let body = StorageChurn.body(seed: 1, step: number, key: number, size: number % 7 == 0 ? 90_000 : 9000)
        let response = URLResponse(url: url, mimeType: nil, expectedContentLength: -1, textEncodingName: nil)
        cache.storeCachedResponse(CachedURLResponse(response: response, data: body), for: request)
        guard cache.cachedResponse(for: request)?.data == body else { fail("\(number) is gone at once") }
        if number % 20 == 0 { cache.flush() }
        if number % 9 == 0 {
            cache.removeCachedResponse(for: request)
            guard cache.cachedResponse(for: request) == nil else { fail("\(number) is still there") }
        }
    }
    cache.flush()
    for number in 0..<200 {
        guard let request = StorageChurn.request(number) else { fail("no URL") }
        guard let found = cache.cachedResponse(for: request) else {
            if number > 180, number % 9 != 0 { fail("\(number) is gone") }
            continue
        }
        if number % 9 == 0 { fail("\(number) came back") }
        guard StorageChurn.identify(found.data, key: number)?.step == number else { fail("\(number) is wrong") }
    }
}

/// Removes responses while their files can't be written, and looks for them when they can be again.
func checkRemovalsHold(in directory: URL) {
    func setModes(_ folder: mode_t, _ file: mode_t) {
        chmod(directory.path, 0o700)
        for name in (try? FileManager.default.contentsOfDirectory(atPath: directory.path)) ?? [] {
            let generation = directory.path + "/" + name
            chmod(generation, 0o700)
            chmod(generation + "/Database", file)
            chmod(generation, folder)
        }
        chmod(directory.path, folder)
    }
    let clock = ManualClock()
    let cache = SQLiteURLCache(memoryCapacity: 1 << 20, diskCapacity: 8 << 20, directory: directory, time: clock)
    guard let request = StorageChurn.request(1), let other = StorageChurn.request(2), let url = request.url else {
        fail("no URL")
    }
    let response = URLResponse(url: url, mimeType: nil, expectedContentLength: -1, textEncodingName: nil)
    let cached = CachedURLResponse(response: response, data: Data([1, 2, 3]))
    cache.storeCachedResponse(cached, for: request)
    cache.storeCachedResponse(cached, for: other)
    cache.close()
    setModes(0o500, 0o400)
    cache.removeCachedResponse(for: request)
    cache.flush()
    let generation = (try? FileManager.default.contentsOfDirectory(atPath: directory.path))?.first {
        $0.hasPrefix("Cache-")
    }
    let database = directory.path + "/\(generation ?? "")/Database"
    if access(database, R_OK) != 0 || access(database, W_OK) == 0 { fail("a read-only directory has other modes") }
    if cache.cachedResponse(for: request) != nil { fail("it is still there") }
    setModes(0o700, 0o600)
    if cache.cachedResponse(for: request) != nil { fail("it came back") }
    clock.advance(by: 61)
    cache.storeCachedResponse(cached, for: other)
    cache.flush()
    if cache.cachedResponse(for: request) != nil { fail("it came back later") }
    if cache.cachedResponse(for: other)?.data != cached.data { fail("the disk is not used again") }
    cache.close()
    cache.memoryCapacity = 0
    if cache.cachedResponse(for: request) != nil { fail("it came back on the disk") }
    if cache.cachedResponse(for: other)?.data != cached.data { fail("the disk was not used again") }
}

/// Removes a response where there is no room for SQLite's journal: it goes, and nothing else.
func checkRemovalsWithoutJournal(in directory: URL) {
    let cache = SQLiteURLCache(memoryCapacity: 0, diskCapacity: 8 << 20, directory: directory)
    guard let requests = (0..<20).map(StorageChurn.request) as? [URLRequest], let url = requests[0].url else {
        fail("no URL")
    }
    let response = URLResponse(url: url, mimeType: nil, expectedContentLength: -1, textEncodingName: nil)
    for request in requests {
        cache.storeCachedResponse(CachedURLResponse(response: response, data: Data(count: 5000)), for: request)
    }
    cache.close()
    let names = try? FileManager.default.contentsOfDirectory(atPath: directory.path)
    guard let name = names?.first else { fail("no files") }
    chmod(directory.path + "/" + name, 0o500)
    chmod(directory.path, 0o500)  // so that the cache does not reset the mode of the subdirectory
    cache.removeCachedResponse(for: requests[7])
    cache.close()
    chmod(directory.path, 0o700)
    chmod(directory.path + "/" + name, 0o700)
    let found = requests.indices.filter { cache.cachedResponse(for: requests[$0]) != nil }
    if found != (0..<20).filter({ $0 != 7 }) { fail("\(found) are left") }
}

/// Takes the permissions for files of the cache away, one after the other, while it is open and while it is not. The next store
/// works, and nothing is lost.
func checkForbiddenFiles(in directory: URL) {
    let cache = SQLiteURLCache(memoryCapacity: 0, diskCapacity: 8 << 20, directory: directory)
    func store(_ key: Int) {
        guard let request = StorageChurn.request(key), let url = request.url else { fail("no URL") }
        let response = URLResponse(url: url, mimeType: nil, expectedContentLength: -1, textEncodingName: nil)
        cache.storeCachedResponse(CachedURLResponse(response: response, data: Data(count: 40_000)), for: request)
        cache.flush()
    }
    store(0)
    guard let name = try? FileManager.default.contentsOfDirectory(atPath: directory.path).first else {
        fail("no files")
    }
    let generation = directory.path + "/" + name
    var count = 1
    for path in [generation, generation + "/Database", generation + "/Bodies", generation + "/Moving"] {
        for (mode, isOpen) in [(0, true), (0, false), (0o400, true), (0o400, false), (0o500, true), (0o500, false)] {
            if !isOpen { cache.close() }
            guard chmod(path, mode_t(mode)) == 0 else { fail("chmod: \(errno)") }
            store(count)
            count += 1
            let lost = (0..<count).filter { StorageChurn.request($0).flatMap { cache.cachedResponse(for: $0) } == nil }
            if !lost.isEmpty { fail("\(lost) of \(count) are gone: \(path), \(mode), \(isOpen)") }
        }
    }
    cache.close()
    // A lookup that has to open the database does not wait for a store. A writer that has the file open would not notice its mode.
    guard chmod(generation + "/Database", 0) == 0 else { fail("chmod: \(errno)") }
    let lost = (0..<count).filter { StorageChurn.request($0).flatMap { cache.cachedResponse(for: $0) } == nil }
    if !lost.isEmpty { fail("\(lost) of \(count) are gone before the next store") }
    cache.close()
    // The journal of a killed writer: SQLite must open it to find out that there is nothing to roll back.
    guard FileManager.default.createFile(atPath: generation + "/Database-journal", contents: nil),
        chmod(generation + "/Database-journal", 0) == 0
    else { fail("no journal") }
    store(count)
    if StorageChurn.request(count).flatMap({ cache.cachedResponse(for: $0) }) == nil { fail("a journal stops stores") }
    // A generation that is deleted.
    func names() -> [String] { (try? FileManager.default.contentsOfDirectory(atPath: directory.path)) ?? [] }
    for mode: mode_t in [0, 0o400, 0o500] {
        store(0)
        guard let name = names().first(where: { $0.hasPrefix("Cache-") }) else { fail("no generation") }
        for folder in ["", "/Bodies", "/Moving"].reversed() {
            guard chmod(directory.path + "/" + name + folder, mode) == 0 else { fail("chmod: \(errno)") }
        }
        cache.removeAllCachedResponses()
        cache.flush()
        while names().contains(where: { $0.hasPrefix("Old-") }) { sched_yield() }
    }
}

/// One of several processes on a directory. Each key of its own holds what it stored there last; the others' keys hold
/// whole bodies or nothing, and what one sees of a key never goes back. An object next to a body was made from it.
struct SharingProcess {
    private static let ownKeys = 12
    private static let processes = 8

    private let seed: Int
    private let cache: SQLiteURLCache
    private var own: [Int: (step: Int, body: Data)] = [:]
    private var lastSeen: [Int: Int] = [:]
    private var random: SeededGenerator

    init(seed: Int, cache: SQLiteURLCache) {
        self.seed = seed
        self.cache = cache
        random = SeededGenerator(seed: UInt64(seed))
    }

    func run(steps: Int) {
        var process = self
        for step in 1...steps { process.doStep(step) }
        cache.flush()
        for key in 0..<Self.ownKeys { process.checkOwn(key) }
        say(
            "own \(process.own.sorted { $0.key < $1.key }.map { "\(global($0.key)):\($0.value.step)" }.joined(separator: " "))"
        )
    }

    /// The keys of all processes are in one row.
    private func global(_ key: Int) -> Int { key * Self.processes + seed % Self.processes }

    private mutating func doStep(_ step: Int) {
        let key = Int.random(in: 0..<Self.ownKeys, using: &random)
        switch Int.random(in: 0..<20, using: &random) {
        case 0..<7: store(step, key)
        case 7..<9:
            if let request = StorageChurn.request(global(key)) { cache.removeCachedResponse(for: request) }
            own[key] = nil
        case 9: cache.flush()
        case 10..<15: checkOwn(key)
        default: lookAtOthers()
        }
    }

    private mutating func store(_ step: Int, _ key: Int) {
        let size = [64, 900, 9000, 30_000, 80_000].randomElement(using: &random) ?? 64
        let body = StorageChurn.body(seed: UInt64(seed), step: step, key: global(key), size: size)
        guard let request = StorageChurn.request(global(key)), let url = request.url,
            let response = HTTPURLResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: [:])
        else { fail("no URL") }
        cache.storeCachedResponse(CachedURLResponse(response: response, data: body), for: request)
        own[key] = (step, body)
        guard step % 3 > 0, let (source, _) = source(of: global(key)) else { return }
        cache.keepDerivedObject(Self.object(of: body), as: "object", of: source)
        checkObject(of: global(key), isKept: true)
    }

    /// What is made from a body; for some a body file.
    private static func object(of body: Data) -> Data { Data(body.reversed().prefix(20_000)) }

    private func source(of key: Int) -> (DerivedSource, body: Data)? {
        let url = StorageChurn.request(key)?.url?.absoluteString ?? ""
        guard let entry = cache.entries(for: url).first, let body = cache.body(of: entry) else { return nil }
        let checksum = body.withUnsafeBytes { Checksum64.of($0) }
        return (DerivedSource(entry: entry.id, checksum: checksum, bodySize: body.count), body)
    }

    private func checkObject(of key: Int, isKept: Bool = false) {
        guard let (source, body) = source(of: key) else { return }
        let found = cache.derivedObject("object", of: source)
        if isKept, found == nil { fail("the object of key \(key) is gone") }
        if let found, found != Self.object(of: body) { fail("key \(key) has a wrong object") }
    }

    private func checkOwn(_ key: Int) {
        guard let request = StorageChurn.request(global(key)) else { fail("no URL") }
        let found = cache.cachedResponse(for: request)?.data
        if found != own[key]?.body {
            fail("key \(key) of \(seed): \(found?.count ?? -1) bytes, expected \(own[key]?.body.count ?? -1)")
        }
    }

    private mutating func lookAtOthers() {
        let key = Int.random(in: 0..<Self.ownKeys * Self.processes, using: &random)
        guard let request = StorageChurn.request(key), let found = cache.cachedResponse(for: request) else { return }
        checkObject(of: key)
        guard let (_, step) = StorageChurn.identify(found.data, key: key) else { fail("key \(key) has a wrong body") }
        if step < lastSeen[key] ?? 0 { fail("key \(key) went back from \(lastSeen[key] ?? 0) to \(step)") }
        lastSeen[key] = step
    }
}
