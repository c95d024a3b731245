import Foundation
import HTTPCaching
import ImageResource
import ScriptedServer
import Synchronizer

/// Seven passes over a feed and its photographs. Some of the passes cost nearly nothing.
struct Tour {
    /// The port is always the same. So the URLs are the same, too, and a run can use the cache of an earlier one.
    static let port: UInt16 = 41_730
    static let day: TimeInterval = 24 * 60 * 60

    let folder: Folder
    let terminal: Terminal
    let site: SampleSite
    let time = ShiftedTime()
    var report = Report()

    init(folder: Folder, terminal: Terminal) throws {
        self.folder = folder
        self.terminal = terminal
        let now: @Sendable () -> Date = { [time] in time.now }
        do {
            site = try SampleSite(port: Self.port, now: now)
        } catch {
            site = try SampleSite(now: now)
            terminal.complain("Port \(Self.port) is taken. On another port, the cache of an earlier run can't be used.")
        }
    }

    mutating func run() async throws {
        try await lookForEarlierRun()
        terminal.print("")
        terminal.print(Report.Pass.heading)
        time.set(-2 * Self.day)  // the tour ends at the present time, so the cache that it leaves is fresh
        let synchronizer = makeSynchronizer()
        let cold = try await pass("cold", words: "the feed and its images come from the network", with: synchronizer)
        try await pass("warm", words: "the same again: every object is in memory", with: synchronizer)
        await storeThumbnails()
        try await pass(
            "disk", words: "a new synchronizer with nothing in memory: thumbnails come from the disk",
            with: makeSynchronizer())
        try await pass(
            "decoded", words: "the same without stored thumbnails: files come from the disk, and are decoded again",
            with: makeSynchronizer { $0.derivedObjects = nil })
        time.set(0)
        try await pass(
            "revalidated", words: "two days later: the server confirms, and sends no bodies", with: synchronizer)
        try await scroll()
        try await goOffline()
        terminal.print("")
        try drawContactSheet(of: cold.images)
        terminal.print("The cache is in \(folder.cache.path). The next run starts with it.")
    }

    private var cache: SQLiteURLCache {
        SQLiteURLCache(memoryCapacity: 0, diskCapacity: 200 << 20, directory: folder.cache, time: time)
    }

    /// Waits until all thumbnails are stored. The cache stores them after their loads have ended.
    private func storeThumbnails() async {
        var (before, now) = (-1, cache.statistics.entries)
        while before != now {
            try? await Task.sleep(nanoseconds: 200_000_000)
            (before, now) = (now, cache.statistics.entries)
        }
    }

    /// A synchronizer with empty memory, over the cache on disk.
    func makeSynchronizer(
        _ change: (inout Synchronizer.Configuration) -> Void = { _ in }
    ) -> Synchronizer {
        var configuration = Synchronizer.Configuration(cacheTime: Self.day, urlCache: cache)
        configuration.caching = .managed
        configuration.time = time
        change(&configuration)
        return Synchronizer(configuration: configuration)
    }

    // MARK: The earlier run

    /// Prints whether there is a cache of an earlier run, and how many requests it saves.
    private mutating func lookForEarlierRun() async throws {
        let synchronizer = makeSynchronizer()
        var onlyStored = URLRequest(url: site.feedURL)
        onlyStored.cachePolicy = .returnCacheDataDontLoad
        onlyStored.setValue("application/json", forHTTPHeaderField: FieldName.accept)
        guard (try? await synchronizer.load(DataResource(request: onlyStored))) != nil else {
            terminal.print("There is no cache of an earlier run in \(folder.cache.path).")
            return
        }
        report.foundCache = true
        let (found, result) = try await measure("found", with: synchronizer)
        let stored = result.sources[.cache, default: 0] + result.sources[.revalidated, default: 0]
        terminal.print(
            "Found the cache of an earlier run: \(stored) of \(found.loaded) resources came from it, "
                + "\(found.requests) requests, \(Report.Pass.words(seconds: found.seconds)). It is emptied now.")
        synchronizer.removeAll()
    }

    // MARK: Offline

    /// Stops the server. Fresh responses are used as before. Loads of stale ones fail, unless the cache policy allows stale ones.
    mutating func goOffline() async throws {
        site.stop()
        let synchronizer = makeSynchronizer()
        let (pass, _) = try await measure("offline", with: synchronizer)
        add(pass, words: "the server is stopped: fresh responses come from the disk as before")
        time.set(2 * Self.day)
        let feed = DataResource(url: site.feedURL)
        do {
            let loaded = try await synchronizer.loaded(feed)
            terminal.print("    two days later the feed still loads: \(loaded.trace)")
        } catch {
            terminal.print("    two days later it is an error: \(error)")
        }
        let taken = try await TourResult(
            loading: site.feedURL, as: "whatever its age", with: synchronizer, terminal: terminal,
            cachePolicy: .returnCacheDataElseLoad)
        terminal.print("    whatever its age (.returnCacheDataElseLoad): \(taken.loaded) of \(pass.loaded)")
    }

    // MARK: A pass

    @discardableResult
    private mutating func pass(_ name: String, words: String, with synchronizer: Synchronizer) async throws
        -> TourResult
    {
        let (pass, result) = try await measure(name, with: synchronizer)
        add(pass, words: words)
        return result
    }

    mutating func add(_ pass: Report.Pass, words: String) {
        report.passes.append(pass)
        terminal.print(pass.line)
        terminal.print("    \(words)")
    }

    func measure(_ name: String, with synchronizer: Synchronizer) async throws -> (Report.Pass, TourResult) {
        let before = site.server.counts
        let start = DispatchTime.now().uptimeNanoseconds
        let result = try await TourResult(loading: site.feedURL, as: name, with: synchronizer, terminal: terminal)
        let seconds = TimeInterval(DispatchTime.now().uptimeNanoseconds - start) / 1e9
        let cost = site.server.counts - before
        let pass = Report.Pass(
            name: name, loaded: result.loaded, failed: result.errors.count, requests: cost.requests,
            notModified: cost.replies[304, default: 0], bytes: cost.bodyBytesSent, seconds: seconds)
        return (pass, result)
    }

    private mutating func drawContactSheet(of images: [PlatformImage]) throws {
        report.items = images.count
        guard let png = ContactSheet(images).png() else { return }
        try png.write(to: folder.contactSheet)
        report.contactSheet = folder.contactSheet.path
        terminal.print("The images, as they were loaded: \(folder.contactSheet.path)")
    }
}

/// The system's time plus an offset, so that a day can pass at once.
final class ShiftedTime: TimeSource {
    private let system = SystemTime()
    private let lock = NSLock()
    nonisolated(unsafe) private var shift: TimeInterval = 0  // touched under `lock` only

    var now: Date {
        lock.withLock { system.now.addingTimeInterval(shift) }
    }

    /// Sets the offset from the system's time, in seconds.
    func set(_ secondsFromNow: TimeInterval) {
        lock.withLock { shift = secondsFromNow }
    }

    func schedule(after delay: TimeInterval, _ action: @escaping @Sendable () -> Void) -> CancelLoading {
        system.schedule(after: delay, action)
    }
}
