#if Valkey && canImport(CHiredis)
    import Foundation
    import HTTPCaching
    import SQLiteCache

    extension ValkeyURLCache: LeasingStore {
        package func entries(for url: String) -> [StoredEntry] {
            ForkedProcess.isCurrent ? [] : level.entries(for: url)
        }

        package func responses(of url: String) -> [StoredResponse] {
            ForkedProcess.isCurrent ? [] : local.responses(of: url)
        }

        package func body(of entry: StoredEntry) -> Data? {
            ForkedProcess.isCurrent ? nil : level.body(of: entry)
        }

        @discardableResult
        package func store(_ response: StoredResponse, as cached: CachedURLResponse) -> Int64? {
            guard !ForkedProcess.isCurrent, cached.storagePolicy != .notAllowed else { return nil }
            return level.store(StoredRecord(response, with: cached), body: cached.mirroredBody)
        }

        package func refusal(toStore bytes: Int, policy: URLCache.StoragePolicy) -> StoreRefusal? {
            bytes <= level.limits.sharedBody ? nil : local.refusal(toStore: bytes, policy: policy)
        }

        @discardableResult
        package func update(_ entry: StoredEntry, to response: StoredResponse) -> Bool {
            !ForkedProcess.isCurrent && level.update(entry, to: response)
        }

        package func remove(_ entry: StoredEntry) {
            if !ForkedProcess.isCurrent { level.remove(entry) }
        }

        package func removeEntries(for url: String) {
            if !ForkedProcess.isCurrent { level.removeEntries(for: url) }
        }

        package func removeAll() {
            if !ForkedProcess.isCurrent { level.removeAll() }
        }

        package func lease(_ key: String, for duration: TimeInterval) -> LeaseAnswer {
            level.lease(key, for: duration)
        }

        package func release(_ lease: Lease) { level.release(lease, as: .released) }
        package func abandon(_ lease: Lease) { level.release(lease, as: .vacant) }

        package func waitForRelease(
            of key: String, atMost limit: TimeInterval, then handler: @escaping @Sendable (LeaseEnd) -> Void
        ) -> @Sendable () -> Void {
            level.waitForRelease(of: key, atMost: limit, then: handler)
        }
    }

    /// Derived objects are stored in the local level, next to the copies.
    extension ValkeyURLCache: DerivedObjectStore {
        package func derivedObject(_ name: String, of source: DerivedSource) -> Data? {
            local.derivedObject(name, of: source)
        }

        package func keepDerivedObject(_ data: Data, as name: String, of source: DerivedSource) {
            local.keepDerivedObject(data, as: name, of: source)
        }
    }

    extension ValkeyURLCache: AnnouncingStore {
        package func onChange(_ handler: @escaping @Sendable (AnnouncedChange) -> Void) -> @Sendable () -> Void {
            let id = UInt64.random(in: .min ... .max)
            let listeners = level.listeners
            listeners.withLock { $0[id] = handler }
            return { listeners.withLock { $0[id] = nil } }
        }
    }

    /// Large bodies arrive in files of the local level, and stay there.
    extension ValkeyURLCache: BodyFileStore {
        package func makePartial(for url: String, resumable: StoredResponse?, length: Int?) -> PartialFile? {
            local.makePartial(for: url, resumable: resumable, length: length)
        }

        package func grow(_ partial: PartialFile, to length: Int) -> Bool { local.grow(partial, to: length) }

        package func keptPartials(for url: String) -> [KeptPartial] { local.keptPartials(for: url) }

        package func removePartials(for url: String) { local.removePartials(for: url) }

        /// Does not take bodies of up to 1 MB that are small enough to be shared.
        package func store(_ response: StoredResponse, as cached: CachedURLResponse, file: BodyFile) -> Int64? {
            guard !ForkedProcess.isCurrent, cached.storagePolicy == .allowed,
                file.count > min(level.limits.sharedBody, 1 << 20), file.count > StoredBody.largestInDatabase
            else { return nil }
            return level.store(StoredRecord(response, with: cached), body: .file(file))
        }

        package func bytes(of entry: StoredEntry) -> StoredBytes? {
            guard !ForkedProcess.isCurrent else { return nil }
            if let body = entry.body { return .data(body) }
            return local.bytes(of: entry) ?? level.body(of: entry).map(StoredBytes.data)
        }
    }

    extension CachedURLResponse {
        var mirroredBody: MirroredEntry.Body {
            storagePolicy == .allowedInMemoryOnly ? .memory(data) : .data(data)
        }
    }
#endif
