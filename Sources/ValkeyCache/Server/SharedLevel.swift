#if Valkey && canImport(CHiredis)
    import Foundation
    import HTTPCaching
    import SQLiteCache
    import SynchronizerSupport

    /// The entries on the server, their copies in the local level, and the state that keeps both coherent.
    ///
    /// Calls wait for the server for a bounded time, and never on the main thread.
    final class SharedLevel: Sendable {
        struct Counts {
            var localHits = 0
            var sharedHits = 0
            var misses = 0
            var corrupt = 0
            var invalidations = 0
            /// Reports that the server refuses writes.
            var refusals = OutageLog()
        }

        struct Limits: Sendable {
            /// The most seconds that a call waits for the server.
            let wait: TimeInterval
            /// The size of the largest bodies that the server gets, in bytes.
            let sharedBody: Int
            /// Seconds for which the server keeps a response after its lifetime.
            let staleRetention: TimeInterval
        }

        let server: SharedServer
        let keys: Keyspace
        let local: SQLiteURLCache
        let time: any TimeSource
        let limits: Limits
        let coherence = Locked(Coherence())
        let counts = Locked(Counts())
        let leaseNumbers = Locked(LeaseNumbers())
        let waits = SharedLeaseWaits()
        /// Leases whose end has not been sent to the server.
        let unreleased = Locked<[EndedLease]>([])
        /// Waits about whose leases to ask the server.
        let unchecked = Locked<[LeaseCheck]>([])
        let subscription: Subscription
        /// The handlers of changes by other processes.
        let listeners = Locked<[UInt64: @Sendable (AnnouncedChange) -> Void]>([:])
        /// The sender of this instance's announcements. It distinguishes them from those of other instances.
        let name = SharedLevel.random()
        /// Lets one thread at a time send a removal to the server. If two threads sent the same one, the second could remove
        /// entries that were stored after the first.
        let deliveries = DispatchSemaphore(value: 1)
        /// Does for the main thread what waits for the server, and checks leases.
        let queue = DispatchQueue(label: "ValkeyURLCache", qos: .userInitiated)
        let report: @Sendable (String) -> Void

        init(
            _ address: ServerAddress, keys: Keyspace, local: SQLiteURLCache, limits: Limits,
            time: any TimeSource, report: @escaping @Sendable (String) -> Void
        ) {
            _ = ForkedProcess.isWatched
            server = SharedServer(address, limit: limits.wait, report: report)
            (self.keys, self.local, self.limits, self.time, self.report) = (keys, local, limits, time, report)
            subscription = Subscription(to: keys.changes, of: server)
            subscription.start(
                Subscription.Events(
                    connected: { [weak self] in self?.connected() },
                    disconnected: { [weak self] in self?.disconnected() },
                    message: { [weak self] in self?.receive($1, on: $0) },
                    channels: { [weak self] in self?.waits.channels ?? [] },
                    tick: { [weak self] in
                        self?.checkGeneration()
                        self?.server.closeUnused()
                    },
                    work: { [weak self] in self?.work(isRetrying: $0) ?? .done }))
        }

        /// The work that the subscription's thread does between announcements.
        private func work(isRetrying: Bool) -> Subscription.Work {
            max(deliverRemovals(isRetrying: isRetrying), releaseSome(isRetrying: isRetrying))
        }

        static func random() -> String { UInt64.random(in: .min ... .max).hexadecimal }

        /// Whether this call may wait for the server.
        var mayWait: Bool { !MainQueue.mustNotBlock && !ForkedProcess.isCurrent }

        func close() {
            guard !ForkedProcess.isCurrent else { return }
            subscription.stop()
            server.close()
        }

        // MARK: - Announcements

        private func connected() {
            checkGeneration()
            waits.checkAll()
            let now = time.now
            coherence.withLock { $0.connected(at: now) }
            // Removals may have been missed, also before the first connection: the local level may be older than the process.
            announce(.removedAll)
        }

        private func disconnected() {
            waits.checkAll()
            coherence.withLock { $0.disconnected() }
        }

        private func receive(_ text: String, on channel: String) {
            guard channel == keys.changes else { return waits.announce(text, on: channel) }
            guard let message = ChangeMessage(text), message.sender != name else { return }
            let now = time.now
            switch message.kind {
            case .changed(let url):
                coherence.withLock { $0.noteChange(URLDigest.key(url)) }
                announce(.changed(url: url))
            case .removed(let url, let token):
                counts.withLock { $0.invalidations += 1 }
                coherence.withLock { $0.noteRemoval(URLDigest.key(url), token: token, at: now) }
                local.removeEntries(for: url)
                announce(.removed(url: url))
            case .generation(let generation):
                counts.withLock { $0.invalidations += 1 }
                coherence.withLock { $0.noteSweep(generation: generation, at: now) }
                local.removeAllCachedResponses()
                announce(.removedAll)
            }
        }

        private func announce(_ change: AnnouncedChange) {
            for listener in listeners.withLock({ $0.values.map { $0 } }) { listener(change) }
        }

        func message(_ kind: ChangeMessage.Kind) -> Command.Argument {
            .text(ChangeMessage(kind, from: name).text)
        }

        // MARK: - Generations

        /// The generation in use; the server gets a first one if it has none.
        func generation() throws(LinkFailure) -> String {
            if let known = coherence.withLock({ $0.generation }) { return known }
            let replies = try server.run([
                Command(["SET", keys.generation, Self.random(), "NX"], key: keys.generation),
                keys.currentGeneration,
            ])
            guard let generation = replies[1].text else { throw .server("that it has no generation, and stores none") }
            adopt(generation, insteadOf: nil)
            return generation
        }

        /// Asks for the generation. If copies answer all lookups, only this keeps the server from evicting its key as the least
        /// recently used one, and only this notices that everything was deleted on the server.
        private func checkGeneration() {
            let known = coherence.withLock { $0.generation }
            guard let replies = try? server.run([keys.currentGeneration]) else { return }
            adopt(replies[0].text, insteadOf: known)
        }

        /// Adopts the generation that the server reports. If another generation was known, everything was removed.
        ///
        /// - Parameter known: the generation that was known before the server was asked. If another one is known by now, the
        ///   report may be older.
        func adopt(_ generation: String?, insteadOf known: String?) {
            let now = time.now
            let isNew = coherence.withLock { coherence in
                guard coherence.generation == known else { return false }
                if known == nil, let generation {
                    coherence.adopt(generation)
                    return false
                }
                guard coherence.generation != generation else { return false }
                coherence.noteSweep(generation: generation, at: now)
                return true
            }
            guard isNew else { return }
            local.removeAllCachedResponses()
            announce(.removedAll)
        }
    }

    extension SharedEntry {
        /// The entry as Fetching sees it.
        var stored: StoredEntry {
            StoredEntry(response: response, id: id, bodySize: bodySize, bodyChecksum: bodyChecksum)
        }
    }
#endif
