import Foundation
import HTTPCaching
import SynchronizerSupport

/// A `URLCache` that keeps responses in an SQLite database and in files. It works the same on every platform.
///
/// ```swift
/// let cache = SQLiteURLCache(memoryCapacity: 20 << 20, diskCapacity: 200 << 20)
/// let synchronizer = Synchronizer(cacheTime: 24 * 60 * 60, urlCache: cache)
/// ```
///
/// On Apple's systems a plain `URLSession` can use it, too, as `URLSessionConfiguration.urlCache`. On Linux do not give it to
/// a `URLSession`: Foundation's `URLSession` (Swift 6.3.1) stores nothing, and a session with a cache can end the process when a
/// task is cancelled.
///
/// A response is found by its full URL without fragment, its method, its credentials, and the request fields that its `Vary`
/// names (RFC 9111 §4.1). 64 variants of a URL are kept. The methods of `URLCache` do not store responses to requests with a
/// body, partial responses (status 206), and responses with `Vary: *`. (`Synchronizer` stores partial responses by other methods.)
/// Bodies have a length and a checksum: a corrupt response is a miss. (A file over 256 KB that has not changed is checked at most
/// once a minute.)
///
/// You can call every method on any thread. Storing and removing take effect at once, and return before the disk is written. A
/// lookup reads from the disk unless memory has the response. Several processes, and several instances in one process, may use a
/// directory at the same time. Instances in one process that have a disk capacity and the same directory share their memory, and
/// the capacities given last apply. No method fails: if the disk can't be used, the cache uses only memory, and prints one line on
/// standard error.
public final class SQLiteURLCache: URLCache, @unchecked Sendable {  // `cache` is a constant and itself Sendable
    let cache: ResponseCache

    /// Opens a cache, or creates it. The disk is not touched before the first use.
    ///
    /// - Parameters:
    ///   - memoryCapacity: the bytes of bodies and fields to keep in memory; 0 for none.
    ///   - diskCapacity: the bytes that all files may take on the disk. Below about 600 KB little is left for responses.
    ///     With 0 the cache is in memory only, and the directory is used only for removals: a removal from this cache also
    ///     removes responses that other instances have stored there.
    ///   - directory: the directory of the files, which only its owner can read. nil for a directory of this user and
    ///     program: `$XDG_CACHE_HOME` or `~/.cache` on Linux, Caches on Apple's systems, then the program's name and
    ///     `SQLiteURLCache`. A directory that another user owns or can write is refused.
    ///   - time: the clock that dates stores, removals and uses. Give the synchronizer the same one. The first instance of a
    ///     directory decides for all.
    public init(
        memoryCapacity: Int, diskCapacity: Int, directory: URL? = nil, time: any TimeSource = SystemTime()
    ) {
        cache = OpenCaches.cache(
            memoryCapacity: memoryCapacity, diskCapacity: diskCapacity,
            directory: directory ?? CacheDirectory.defaultURL(), time: time, report: Log.line)
        // The superclass's own storage is not used, so it gets no capacity and no directory. The platforms have different
        // initializers, which only this initializer may call. So the calls can't be in a file for each platform.
        #if !canImport(Darwin)
            super.init(memoryCapacity: 0, diskCapacity: 0, diskPath: "/dev/null")
        #else
            super.init(__memoryCapacity: 0, diskCapacity: 0, directoryURL: nil)
        #endif
    }

    /// The bytes of bodies and fields to keep in memory. Lowering it evicts.
    public override var memoryCapacity: Int {
        get { ForkedProcess.isCurrent ? 0 : cache.state.withLock { $0.memory.capacity } }
        set { if !ForkedProcess.isCurrent { cache.state.withLock { $0.memory.capacity = max(0, newValue) } } }
    }

    /// The bytes that all files may take on the disk. Lowering it evicts in the background.
    public override var diskCapacity: Int {
        get { cache.diskCapacity }
        set { cache.diskCapacity = newValue }
    }

    /// The bytes of bodies and fields that are in memory.
    public override var currentMemoryUsage: Int {
        ForkedProcess.isCurrent ? 0 : cache.state.withLock { $0.memory.cost }
    }

    /// The bytes that the files take on the disk, plus the bytes of bodies that are not yet written.
    public override var currentDiskUsage: Int {
        cache.diskUsage
    }

    /// The newest response that answers the request, whether it is fresh or not.
    public override func cachedResponse(for request: URLRequest) -> CachedURLResponse? {
        LookupKey(request).flatMap { cachedResponse($0) }
    }

    /// The same for a request whose lookup key has been computed, and a caller that may have read the clock.
    package func cachedResponse(_ lookup: LookupKey, at now: Date? = nil) -> CachedURLResponse? {
        // If a response is replaced before its body is read, the lookup starts again.
        for _ in 0..<16 {
            let rows = cache.rows(of: lookup.key, urlKey: lookup.urlKey, at: now) { $0.record.answers(lookup) }
            guard let row = rows.first(where: { $0.record.answers(lookup) }) else { break }
            guard let found = object(of: row, for: lookup) else { continue }
            cache.markUsed(row.id)
            return found
        }
        cache.countMiss()
        return nil
    }

    private func object(of row: StoredRow, for lookup: LookupKey) -> CachedURLResponse? {
        if let cached = row.cached { return cached }
        guard let body = row.body ?? cache.body(of: row.id, url: row.url) else { return nil }
        guard let made = row.record.cachedResponse(to: lookup, body: body) else { return nil }
        cache.keep(body: body, cached: made, for: row)
        return made
    }

    /// Stores a response according to its storage policy. It replaces the response with the same URL, method and
    /// selecting fields.
    ///
    /// Memory keeps all of its `userInfo`, the disk only property lists whose keys are strings.
    public override func storeCachedResponse(_ cachedResponse: CachedURLResponse, for request: URLRequest) {
        guard cachedResponse.storagePolicy != .notAllowed,
            let record = StoredRecord(cachedResponse, for: request, now: cache.time.now)
        else { return }
        cache.store(record, cached: cachedResponse, keepsObject: true)
    }

    /// Removes the responses of the request's URL, with all methods and variants.
    public override func removeCachedResponse(for request: URLRequest) {
        guard let url = request.cacheKey else { return }
        cache.invalidate([url])
        cache.change(.removeURL(url, urlKey: Checksum64.of(url)))
    }

    /// Removes all responses.
    public override func removeAllCachedResponses() {
        cache.invalidate(nil)
        cache.change(.removeAll)
    }

    /// Removes the responses that were stored at a date or later, to the millisecond. It reads all rows in the background.
    public override func removeCachedResponses(since date: Date) {
        cache.invalidate(nil)
        cache.change(.removeSince(date.milliseconds))
    }

    /// Stores a response to the task's current request.
    public override func storeCachedResponse(_ cachedResponse: CachedURLResponse, for dataTask: URLSessionDataTask) {
        guard let request = dataTask.currentRequest else { return }
        storeCachedResponse(cachedResponse, for: request)
    }

    /// Looks up the task's current request, and calls the handler on a background thread.
    public override func getCachedResponse(
        for dataTask: URLSessionDataTask, completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void
    ) {
        guard let request = dataTask.currentRequest else { return completionHandler(nil) }
        DispatchQueue.global(qos: .userInitiated).async { [self] in completionHandler(cachedResponse(for: request)) }
    }

    /// Removes the responses of the URL of the task's current request.
    public override func removeCachedResponse(for dataTask: URLSessionDataTask) {
        guard let request = dataTask.currentRequest else { return }
        removeCachedResponse(for: request)
    }

    /// Waits until the disk has all stores and removals made so far, if it can be written.
    ///
    /// A program that ends by returning from `main` or by `exit` does not need to call this.
    public func flush() {
        cache.flush()
    }

    /// Removes all responses, and waits until their files are deleted. Also deletes the files of older generations, which a killed
    /// process may have left.
    package func purge() {
        removeAllCachedResponses()
        flush()
        try? Generation.newest(in: cache.directory)?.removeOthers(in: cache.directory)
        FileSystem.removals.sync {}
    }

    /// Flushes and closes the files. The next use opens them again.
    package func close() {
        cache.close()
    }
}
