#if Valkey && canImport(CHiredis)
    import Foundation
    import HTTPCaching
    import SQLiteCache

    extension ValkeyURLCache: LeasingStore {
        package func entries(for url: String) -> [StoredEntry] {
            ForkedProcess.isCurrent ? [] : level.entries(for: url)
        }

        package func body(of entry: StoredEntry) -> Data? {
            ForkedProcess.isCurrent ? nil : level.body(of: entry)
        }

        @discardableResult
        package func store(_ response: StoredResponse, _ cached: CachedURLResponse) -> Int64? {
            store(response, cached, lease: nil)
        }

        package func store(_ response: StoredResponse, _ cached: CachedURLResponse, under lease: Lease) -> Int64? {
            store(response, cached, lease: lease)
        }

        private func store(_ response: StoredResponse, _ cached: CachedURLResponse, lease: Lease?) -> Int64? {
            guard !ForkedProcess.isCurrent, cached.storagePolicy != .notAllowed else { return nil }
            return level.store(
                StoredRecord(response, with: cached), body: cached.data,
                isMemoryOnly: cached.storagePolicy == .allowedInMemoryOnly, under: lease)
        }

        package func refusal(toStore bytes: Int) -> StoreRefusal? {
            bytes <= level.options.largestSharedBody ? nil : local.refusal(toStore: bytes)
        }

        package func update(_ entry: StoredEntry, to response: StoredResponse) {
            if !ForkedProcess.isCurrent { level.update(entry, to: response) }
        }

        package func update(_ entry: StoredEntry, to response: StoredResponse, under lease: Lease) {
            if !ForkedProcess.isCurrent { level.update(entry, to: response, under: lease) }
        }

        package func remove(_ entry: StoredEntry) {
            if !ForkedProcess.isCurrent { level.remove(entry) }
        }

        package func removeEntries(for url: String) {
            if !ForkedProcess.isCurrent { level.removeEntries(for: url) }
        }

        package func removeAll() {
            removeAllCachedResponses()
        }

        package func lease(_ key: String, for duration: TimeInterval) -> LeaseAnswer {
            level.lease(key, for: duration)
        }

        package func release(_ lease: Lease) {
            level.release(lease)
        }

        package func waitForRelease(
            of key: String, atMost limit: TimeInterval, then handler: @escaping @Sendable () -> Void
        ) -> @Sendable () -> Void {
            level.waitForRelease(of: key, atMost: limit, then: handler)
        }
    }

    /// Objects are stored next to the copies of the local level.
    extension ValkeyURLCache: DerivedObjectStore {
        package func derivedObject(_ name: String, of source: DerivedSource) -> Data? {
            local.derivedObject(name, of: source)
        }

        package func keepDerivedObject(_ data: Data, as name: String, of source: DerivedSource) {
            local.keepDerivedObject(data, as: name, of: source)
        }
    }
#endif
