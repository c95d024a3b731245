#if Valkey && canImport(CHiredis)
    import Foundation
    import HTTPCaching
    import SQLiteCache
    import SynchronizerSupport

    /// The entries on the server, their copies in the local level, and what is known of both.
    ///
    /// Calls wait for the server for a bounded time, and never on the main thread.
    final class SharedLevel: Sendable {
        struct Counts {
            var localHits = 0
            var sharedHits = 0
            var misses = 0
            var corrupt = 0
            var invalidations = 0
            /// Whether the log says that the server refuses writes.
            var refusesWrites = false
        }

        let server: SharedServer
        let keys: Keyspace
        let local: SQLiteURLCache
        let time: any TimeSource
        let options: ValkeyURLCache.Options
        let coherence = Locked(Coherence())
        let counts = Locked(Counts())
        let waits = LeaseWaits()
        /// Leases that have ended, and that the server may not know to have ended.
        let unreleased = Locked<[(lease: Lease, end: LeaseEnd)]>([])
        /// Waits of which it is to be looked up whether their lease is free.
        let unchecked = Locked<[LeaseCheck]>([])
        let subscription: Subscription
        /// Those who want to know of removals by others.
        let listeners = Locked<[UInt64: @Sendable (String?) -> Void]>([:])
        /// Tells the changes of this instance from those of others.
        let name = SharedLevel.random()
        /// One thread at a time tells the server of removals: a second telling could remove what was stored after the first.
        let deliveries = DispatchQueue(label: "ValkeyURLCache.removals", qos: .userInitiated)
        /// For calls of the main thread.
        let queue = DispatchQueue(label: "ValkeyURLCache", qos: .userInitiated)
        let report: @Sendable (String) -> Void

        init(
            _ address: ServerAddress, keys: Keyspace, local: SQLiteURLCache, options: ValkeyURLCache.Options,
            time: any TimeSource, report: @escaping @Sendable (String) -> Void
        ) {
            _ = ForkedProcess.isWatched
            server = SharedServer(address, limit: options.longestWait, report: report)
            (self.keys, self.local, self.options, self.time, self.report) = (keys, local, options, time, report)
            subscription = Subscription(to: keys.changes, of: server)
            subscription.start(
                Subscription.Events(
                    connected: { [weak self] in self?.connected() },
                    disconnected: { [weak self] in self?.disconnected() },
                    message: { [weak self] in self?.receive($0, $1) },
                    channels: { [weak self] in self?.waits.channels ?? [] },
                    work: { [weak self] in self?.work() ?? .done }))
        }

        /// What the thread of the subscription does between announcements.
        private func work() -> Subscription.Work { max(deliverRemovals(), releaseSome()) }

        static func random() -> String { UInt64.random(in: .min ... .max).hexadecimal }

        /// Whether this call may wait for the server.
        var mayWait: Bool { !MainThread.isCurrent && !ForkedProcess.isCurrent }

        func close() {
            guard !ForkedProcess.isCurrent else { return }
            subscription.stop()
            server.close()
        }

        // MARK: - Announcements

        private func connected() {
            // Removals may have been missed, and the server may have been replaced by an empty one.
            let isBack = coherence.withLock { $0.hasBeenTold }
            defer { if isBack { announce(nil) } }
            if let replies = try? server.run([keys.currentGeneration]) {
                adopt(replies[0].text)
            }
            let now = time.now
            coherence.withLock { $0.connected(at: now) }
            waits.checkAll()
        }

        private func disconnected() {
            coherence.withLock { $0.disconnected() }
            waits.checkAll()
        }

        private func receive(_ channel: String, _ text: String) {
            guard channel == keys.changes else { return waits.announce(channel, text) }
            guard let message = ChangeMessage(text), message.sender != name else { return }
            let now = time.now
            switch message.kind {
            case .changed(let url):
                coherence.withLock { $0.noteChange(URLDigest.key(url)) }
            case .removed(let url, let token):
                counts.withLock { $0.invalidations += 1 }
                coherence.withLock { $0.noteRemoval(URLDigest.key(url), token: token, at: now) }
                local.removeEntries(for: url)
                announce(url)
            case .generation(let generation):
                counts.withLock { $0.invalidations += 1 }
                coherence.withLock { $0.noteSweep(generation: generation, at: now) }
                local.removeAllCachedResponses()
                announce(nil)
            }
        }

        private func announce(_ url: String?) {
            for listener in listeners.withLock({ $0.values.map { $0 } }) { listener(url) }
        }

        func message(_ kind: ChangeMessage.Kind) -> Command.Argument {
            .text(ChangeMessage(from: name, kind).text)
        }

        // MARK: - Generations

        /// The generation in use; the server gets a first one if it has none.
        func generation() throws(LinkFailure) -> String {
            if let known = coherence.withLock({ $0.generation }) { return known }
            let replies = try server.run([
                Command(["SET", keys.generation, Self.random(), "NX"], key: keys.generation),
                keys.currentGeneration,
            ])
            guard let generation = replies[1].text else { throw .server("that it has no generation, and takes none") }
            adopt(generation)
            return generation
        }

        /// What the server says of the generation, if it is not what was known.
        func adopt(_ generation: String?) {
            let now = time.now
            let isNew = coherence.withLock { coherence in
                if coherence.generation == nil, let generation {
                    coherence.adopt(generation)
                    return false
                }
                guard coherence.generation != generation else { return false }
                coherence.noteSweep(generation: generation, at: now)
                return true
            }
            if isNew { local.removeAllCachedResponses() }
        }

        // MARK: - Reading

        /// What the server has of a URL.
        struct Found {
            /// Newest first.
            var entries: [SharedEntry] = []
            /// The body that came with them, verified.
            var body: (id: Int64, data: Data)?
            /// That of the last removal; empty for none.
            var token = ""
        }

        /// Bodies up to this size come with the entries, in bytes.
        static let largestBodyWithEntries = 64 << 10

        /// Asks the server, and copies what it has.
        ///
        /// - Parameter variant: the entry whose body is needed; nil for that of the newest entry if it is not large.
        /// - Returns: nil if the server cannot be asked, or its entries must not be used.
        func ask(_ url: String, wanting variant: UInt64? = nil) -> Found? {
            guard mayWait else { return nil }
            let key = URLDigest.key(url)
            for _ in 0..<3 {
                let (isPending, lookup) = coherence.withLock { ($0.pending.contains(url), $0.begin(key)) }
                defer { coherence.withLock { $0.end(lookup) } }
                guard !isPending, let found = try? read(url, wanting: variant) else { return nil }
                let now = time.now
                let isCurrent = coherence.withLock { coherence in
                    guard coherence.isCurrent(lookup) else { return false }
                    coherence.noteToken(found.token, of: key, at: now)
                    return true
                }
                guard isCurrent else { continue }
                copy(found, of: url, lookup)
                return found
            }
            return Found()
        }

        func read(_ url: String, wanting variant: UInt64? = nil) throws(LinkFailure) -> Found {
            for _ in 0..<3 {
                let generation = try generation()
                let key = keys.entries(of: URLDigest(url), in: generation)
                let most = variant == nil ? Self.largestBodyWithEntries : options.largestSharedBody
                let name = variant.map(SharedEntry.variant) ?? ""
                let replies = try server.run([
                    keys.currentGeneration,
                    Command(.read, keys: [key], [.text(name), .text("\(most)")]),
                ])
                guard replies[0].text == generation else {
                    adopt(replies[0].text)
                    continue
                }
                guard let parts = replies[1].array else { throw .malformed("a hash is no array") }
                return found(parts, url: url, key: key)
            }
            throw .server("another generation each time")
        }

        /// - Parameter parts: fields and values, the name of the variant whose body follows, and that body.
        private func found(_ parts: [Reply], url: String, key: String) -> Found {
            var found = Found()
            for index in stride(from: 0, to: parts.count - 3, by: 2) {
                guard let name = parts[index].text, let value = parts[index + 1].data else { continue }
                if name == "x" {
                    found.token = String(decoding: value, as: UTF8.self)
                } else if let entry = SharedEntry(value, url: url, variant: name) {
                    found.entries.append(entry)
                } else {
                    drop(name, of: key)
                }
            }
            found.entries.sort { $0.revision > $1.revision }
            if parts.count >= 2, let body = parts[parts.count - 1].data, let name = parts[parts.count - 2].text,
                let entry = found.entries.first(where: { $0.variant == name })
            {
                if entry.isBody(body) { found.body = (entry.id, body) } else { drop(name, of: key) }
                if found.body == nil { found.entries.removeAll { $0.id == entry.id } }
            }
            return found
        }

        /// Removes a corrupt entry. One that is stored at this moment may be lost, too.
        private func drop(_ variant: String, of key: String) {
            counts.withLock { $0.corrupt += 1 }
            _ = try? server.run([Command(["HDEL", key, variant], key: key)])
        }

        // MARK: - Copying

        /// Makes the local level have the same entries, as far as their bodies are known.
        private func copy(_ found: Found, of url: String, _ lookup: Coherence.Lookup) {
            let copies = local.copies(of: url)
            var (count, isComplete, isInserting) = (0, true, false)
            for entry in found.entries.reversed() {
                let copy = copies.first { $0.id == entry.id }
                let isSame = copy.map { $0.record.bytes == entry.record.bytes } ?? false
                if isSame, !isInserting { count += 1 }
                if isSame && !isInserting || copy == nil && entry.isLocal { continue }
                guard let body = body(of: entry, in: found, isCopied: copy != nil) else {
                    isComplete = false
                    local.removeCopy(entry.id, of: url)
                    continue
                }
                isInserting = true  // newer entries are stored again, after this one
                count += 1
                _ = local.keep(
                    MirroredEntry(
                        id: entry.id, record: entry.record, variant: entry.response.variantKey,
                        body: entry.place == .memory ? .memory(body) : .data(body)), of: url)
            }
            for copy in copies where !found.entries.contains(where: { $0.id == copy.id }) {
                local.removeCopy(copy.id, of: url)
            }
            let isCurrent = coherence.withLock { coherence in
                guard coherence.isCurrent(lookup) else { return false }
                if isComplete, count > 0 { coherence.didCopy(URLDigest.key(url), count: count) }
                return true
            }
            if !isCurrent { local.removeEntries(for: url) }
        }

        private func body(of entry: SharedEntry, in found: Found, isCopied: Bool) -> Data? {
            if let body = found.body, body.id == entry.id { return body.data }
            guard isCopied, let body = local.body(of: entry.stored), entry.isBody(body) else { return nil }
            return body
        }
    }

    extension SharedEntry {
        /// The entry as Fetching sees it.
        var stored: StoredEntry {
            StoredEntry(response: response, id: id, bodySize: bodySize, bodyChecksum: bodyChecksum)
        }
    }
#endif
