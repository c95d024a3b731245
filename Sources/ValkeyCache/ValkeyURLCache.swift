#if Valkey && canImport(CHiredis)
    import Foundation
    import HTTPCaching
    import SQLiteCache
    import SynchronizerSupport

    /// A `URLCache` that several machines share through a Valkey or Redis server (version 6 or later).
    ///
    /// ```swift
    /// let cache = try ValkeyURLCache(server: "redis://cache.internal:6379", namespace: "shop")
    /// let synchronizer = Synchronizer(cacheTime: 60 * 60, urlCache: cache)
    /// ```
    ///
    /// It has two levels: a local `SQLiteURLCache` in front, and the server. A response that one machine stores answers the
    /// requests of all machines. The server announces changes. So the local level answers without asking the server, until the
    /// response expires, or a machine changes or removes it. The cache follows the rules of `SQLiteURLCache`: it uses the same
    /// keys, variants and checksums, and stores credentials only as digests.
    ///
    /// The server may fail at any time. A call waits for it up to ``Options-swift.struct/longestWait``. After three failures in a
    /// row, calls do not ask the server for a while, and the cache writes one line to standard error. Until the server answers
    /// again, the local level answers with its copies, even if another machine has removed a response since. The cache keeps your
    /// removals for the server until it answers. A response that was stored while the server failed is forgotten when the server
    /// is back.
    ///
    /// You can call every method on any thread. On the main thread, only ``flush()`` waits for the server: the local level alone
    /// answers lookups, and changes take effect locally at once and reach the server soon. In a process that was forked without
    /// `exec`, lookups miss, and stores are ignored.
    public final class ValkeyURLCache: URLCache, @unchecked Sendable {  // `level` is a constant and itself Sendable
        package let invalidations = InvalidationLog()
        let level: SharedLevel

        var local: SQLiteURLCache { level.local }

        /// Creates a cache. It connects in the background.
        ///
        /// - Parameters:
        ///   - server: the URL of the server: `redis://[[user]:password@]host[:port][/database]` or
        ///     `unix://[[user]:password@]/path[?db=database]`. For a cluster, give one of its nodes. Sentinel is not supported:
        ///     give the address of a proxy, or of the primary.
        ///   - namespace: the name of your application on the server. Programs with other names do not see its responses.
        ///   - local: the local level, in a directory that no cache with another server or namespace uses; nil for 64 MB of
        ///     memory.
        ///   - options: limits.
        ///   - time: the clock that dates stores, removals and uses. Give the synchronizer the same one.
        /// - Throws: ``ValkeyURLError`` if the URL is not the address of a server.
        public convenience init(
            server: String, namespace: String, local: SQLiteURLCache? = nil, options: Options = Options(),
            time: any TimeSource = SystemTime()
        ) throws {
            try self.init(
                server: server, namespace: namespace, local: local, options: options, time: time, report: Log.line)
        }

        package init(
            server: String, namespace: String, local: SQLiteURLCache?, options: Options, time: any TimeSource,
            report: @escaping @Sendable (String) -> Void
        ) throws {
            let nowhere = URL(fileURLWithPath: "/dev/null", isDirectory: true)
            let address = try ServerAddress(server)
            level = SharedLevel(
                address, keys: Keyspace(namespace: namespace, database: address.database),
                local: local
                    ?? SQLiteURLCache(memoryCapacity: 64 << 20, diskCapacity: 0, directory: nowhere, time: time),
                limits: options.limits, time: time, report: report)
            super.init(memoryCapacity: 0, diskCapacity: 0, diskPath: "/dev/null")
        }

        deinit {
            level.close()
        }

        /// The capacity of the local level's memory, in bytes.
        public override var memoryCapacity: Int {
            get { local.memoryCapacity }
            set { local.memoryCapacity = newValue }
        }

        /// The capacity of the local level's files, in bytes.
        public override var diskCapacity: Int {
            get { local.diskCapacity }
            set { local.diskCapacity = newValue }
        }

        /// The number of bytes that the local level's memory uses.
        public override var currentMemoryUsage: Int { local.currentMemoryUsage }

        /// The number of bytes that the local level's files use.
        public override var currentDiskUsage: Int { local.currentDiskUsage }

        /// The newest response that answers the request, whether it is fresh or not.
        public override func cachedResponse(for request: URLRequest) -> CachedURLResponse? {
            guard !ForkedProcess.isCurrent, let lookup = LookupKey(request) else { return nil }
            return level.cachedResponse(lookup)
        }

        /// Stores a response according to its storage policy. It replaces the response with the same URL, method and variant.
        ///
        /// Of the response's `userInfo`, the cache keeps property lists whose keys are strings. The body of a response that may be
        /// kept only in memory is not shared.
        public override func storeCachedResponse(_ cachedResponse: CachedURLResponse, for request: URLRequest) {
            guard !ForkedProcess.isCurrent, cachedResponse.storagePolicy != .notAllowed,
                let record = StoredRecord(cachedResponse, for: request, now: level.time.now)
            else { return }
            _ = level.store(record, body: cachedResponse.mirroredBody, isRequestedNow: true)
        }

        /// Removes the responses of the request's URL, with all methods and variants, on all machines.
        public override func removeCachedResponse(for request: URLRequest) {
            guard !ForkedProcess.isCurrent, let url = request.cacheKey else { return }
            invalidations.note([url], at: level.time.now)
            level.removeEntries(for: url)
        }

        /// Removes all responses of the namespace, on all machines.
        public override func removeAllCachedResponses() {
            guard !ForkedProcess.isCurrent else { return }
            invalidations.noteEverything(at: level.time.now)
            level.removeAll()
        }

        /// Removes all responses, on all machines, because the server cannot look up responses by date.
        public override func removeCachedResponses(since date: Date) {
            removeAllCachedResponses()
        }

        /// Stores a response to the task's current request.
        public override func storeCachedResponse(
            _ cachedResponse: CachedURLResponse, for dataTask: URLSessionDataTask
        ) {
            guard let request = dataTask.currentRequest else { return }
            storeCachedResponse(cachedResponse, for: request)
        }

        /// Looks up the task's current request, and calls the handler on a background thread.
        public override func getCachedResponse(
            for dataTask: URLSessionDataTask, completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void
        ) {
            guard let request = dataTask.currentRequest else { return completionHandler(nil) }
            DispatchQueue.global(qos: .userInitiated).async { [self] in
                completionHandler(cachedResponse(for: request))
            }
        }

        /// Removes the responses of the URL of the task's current request.
        public override func removeCachedResponse(for dataTask: URLSessionDataTask) {
            guard let request = dataTask.currentRequest else { return }
            removeCachedResponse(for: request)
        }

        /// Waits until the local level's disk has all changes. If the server answers, the method also waits until the server has
        /// the changes that you made on the main thread, and knows which leases have ended. Call it before a command-line tool
        /// exits. Otherwise other processes may wait until the tool's last leases expire.
        public func flush() {
            guard !ForkedProcess.isCurrent else { return }
            level.queue.sync {}
            while level.deliverRemovals(isRetrying: true) == .isLeft {}
            while level.releaseSome(isRetrying: true) == .isLeft {}
            local.flush()
        }
    }
#endif
