import Foundation
import HTTPCaching

/// A `URLCache` that keeps responses in one SQLite database, the same on every platform.
///
/// ```swift
/// let cache = SQLiteURLCache(memoryCapacity: 20 << 20, diskCapacity: 200 << 20)
/// let synchronizer = Synchronizer(cacheTime: 24 * 60 * 60, urlCache: cache)
/// ```
///
/// On Apple's systems a plain `URLSession` uses it too, as `URLSessionConfiguration.urlCache`. On Linux do not give it to one:
/// Foundation's `URLSession` (Swift 6.3.1) stores nothing there, and a session with a cache can end the process when a
/// task is cancelled (`Documentation/Linux.md`).
///
/// A response is found by its full URL without fragment, the method, and the request's fields that its `Vary` names
/// (RFC 9111 §4.1); all that differ are kept. Answers to requests with a body, parts (status 206) and `Vary: *` are not
/// stored. Bodies are checked by length and digest when they are read: what is damaged counts as a miss.
///
/// Every method may be called on any thread. Storing and removing take effect at once and return before the disk is
/// written; looking up reads from the disk unless the response is in memory. Several processes, and several instances
/// in one, may use a directory at the same time: instances share their memory, and the capacities given last hold.
/// Nothing fails aloud: where the disk can't be used, the cache keeps to memory and says so once on standard error.
public final class SQLiteURLCache: URLCache, @unchecked Sendable {  // `cache` is a constant and itself Sendable
    let cache: ResponseCache

    /// Opens a cache, or makes it; no disk is touched before the first use.
    ///
    /// - Parameters:
    ///   - memoryCapacity: the bytes of bodies and fields to keep in memory; 0 for none.
    ///   - diskCapacity: the bytes to take on the disk, all files counted. Below about 200 KB little is left for
    ///     responses. 0 for a cache of its own in memory: of what is in the directory it reads and writes nothing, and only
    ///     what is removed here is removed there, too.
    ///   - directory: where the files are, open to their owner alone. nil for a directory of this user and program:
    ///     `$XDG_CACHE_HOME` or `~/.cache` on Linux, Caches on Apple's systems, then the program's name and
    ///     `SQLiteURLCache`. A directory that somebody else owns or can write is refused.
    ///   - time: the clock by which responses are stored and used.
    public init(
        memoryCapacity: Int, diskCapacity: Int, directory: URL? = nil, time: any TimeSource = SystemTime()
    ) {
        cache = SharedCaches.cache(
            memoryCapacity: memoryCapacity, diskCapacity: diskCapacity,
            directory: directory ?? CacheDirectory.defaultURL(), time: time, report: Log.line)
        // The stock cache is not used; it gets nothing to keep and no directory to make. Here, and not in a file for each
        // platform, because only this initialiser may call one of its designated ones, which differ.
        #if canImport(FoundationNetworking)
            super.init(memoryCapacity: 0, diskCapacity: 0, diskPath: "/dev/null")
        #else
            super.init(memoryCapacity: 0, diskCapacity: 0, directory: nil)
        #endif
    }

    /// The bytes of bodies and fields to keep in memory. Setting it evicts what is too much.
    public override var memoryCapacity: Int {
        get { Fork.isChild ? 0 : cache.state.withLock { $0.memory.capacity } }
        set { if !Fork.isChild { cache.state.withLock { $0.memory.capacity = max(0, newValue) } } }
    }

    /// The bytes to take on the disk. Setting it evicts what is too much, in the background.
    public override var diskCapacity: Int {
        get { cache.diskCapacity }
        set { cache.diskCapacity = newValue }
    }

    /// The bytes of bodies and fields that are in memory.
    public override var currentMemoryUsage: Int {
        Fork.isChild ? 0 : cache.state.withLock { $0.memory.cost }
    }

    /// The bytes that the files take on the disk, and those that are about to be written.
    public override var currentDiskUsage: Int {
        cache.diskUsage
    }

    /// The newest response that was stored for such a request, whether it is fresh or not.
    public override func cachedResponse(for request: URLRequest) -> CachedURLResponse? {
        guard let question = Question(request) else { return nil }
        // Between finding a response and reading its body another may take its place; then that one is looked up.
        for _ in 0..<16 {
            let rows = cache.rows(of: question.key) { $0.record.answers(question) }
            guard let row = rows.first(where: { $0.record.answers(question) }) else { break }
            guard let found = object(of: row, question) else { continue }
            cache.markUsed(row.id)
            return found
        }
        cache.countMiss()
        return nil
    }

    private func object(of row: StoredRow, _ question: Question) -> CachedURLResponse? {
        if let cached = row.cached { return cached }
        guard let body = row.body ?? cache.body(of: row.id, url: row.url, variant: { row.variant }) else { return nil }
        guard let made = row.record.cachedResponse(to: question, body) else { return nil }
        cache.keep(body, made, for: row)
        return made
    }

    /// Stores a response as its storage policy says, in place of the one that was stored for such a request.
    ///
    /// Of its `userInfo` memory keeps everything, and the disk what has a text as key and a property list as value.
    public override func storeCachedResponse(_ cachedResponse: CachedURLResponse, for request: URLRequest) {
        guard cachedResponse.storagePolicy != .notAllowed,
            let record = StoredRecord(cachedResponse, for: request, now: cache.time.now)
        else { return }
        cache.store(record, cachedResponse, keepsObject: true)
    }

    /// Removes what is stored for the request's URL: every method and variant.
    public override func removeCachedResponse(for request: URLRequest) {
        guard let url = request.storedURL else { return }
        cache.change(.removeURL(url, urlKey: Digest.of(url)))
    }

    /// Removes everything.
    public override func removeAllCachedResponses() {
        cache.change(.removeAll)
    }

    /// Removes what was stored at a date or later, to the millisecond.
    public override func removeCachedResponses(since date: Date) {
        cache.change(.removeSince(date.milliseconds))
    }

    /// Stores a response to the task's current request.
    public override func storeCachedResponse(_ cachedResponse: CachedURLResponse, for dataTask: URLSessionDataTask) {
        guard let request = dataTask.currentRequest else { return }
        storeCachedResponse(cachedResponse, for: request)
    }

    /// Looks up the task's current request, and reports on a background thread.
    public override func getCachedResponse(
        for dataTask: URLSessionDataTask, completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void
    ) {
        guard let request = dataTask.currentRequest else { return completionHandler(nil) }
        DispatchQueue.global(qos: .userInitiated).async { [self] in completionHandler(cachedResponse(for: request)) }
    }

    /// Removes what is stored for the URL of the task's current request.
    public override func removeCachedResponse(for dataTask: URLSessionDataTask) {
        guard let request = dataTask.currentRequest else { return }
        removeCachedResponse(for: request)
    }

    /// Waits until all that has been stored and removed so far is in the database, where the disk can be written.
    ///
    /// A program that ends by returning from `main` or by `exit` need not call this.
    public func flush() {
        cache.flush()
    }

    /// Flushes, and lets go of the files; the next use opens them again.
    package func close() {
        cache.close()
    }
}
