#if Valkey && canImport(CHiredis)
    import Foundation
    import HTTPCaching
    import SQLiteCache
    import SynchronizerSupport

    extension SharedLevel {
        /// How a change went at the server.
        private enum Outcome {
            /// So many entries has the URL now.
            case done(Int)
            /// A removal or a later lease came before, or the entry is gone.
            case refused
            case unavailable
        }

        /// The most variants of a URL, as in `SQLiteURLCache`.
        private static let mostVariants = 64
        /// Milliseconds for which the server remembers a removal: longer than loads take.
        private static let removalMemory = 600_000

        // MARK: - Storing

        /// Stores a response; returns the identifier of the new entry, nil if it is not stored.
        func store(_ record: StoredRecord, body: MirroredEntry.Body, under granted: Lease? = nil) -> Int64? {
            guard let lease = shared(granted) else { return nil }
            let (url, id) = (record.response.url, MonotonicID.next())
            let (facts, place, shared) = content(body)
            let entry = SharedEntry(record, id: id, revision: id, body: facts, place: place)
            let key = URLDigest(url).first
            let (fence, isPending, lookup) = coherence.withLock { coherence in
                let fence = coherence.fence(key, requested: record.response.requestTime)
                coherence.noteChange(key)
                return (fence, coherence.pending.contains(url), coherence.begin(key))
            }
            guard case .expecting(let token) = fence else {
                coherence.withLock { $0.end(lookup) }
                return nil
            }
            let copy = MirroredEntry(
                id: id, record: entry.record, variant: record.response.variantKey, body: body)
            let share = { @Sendable [self] () -> Outcome in
                isPending ? .unavailable : send(entry, shared, expecting: token, under: lease)
            }
            guard !mayWait, !isPending, lease == nil, !ForkedProcess.isCurrent else {
                let outcome = mayWait ? share() : .unavailable
                return finish(outcome, copy, of: url, lookup, under: lease) ? id : nil
            }
            keep(copy, of: url, lookup, count: 0)
            queue.async { [self] in
                let isCurrent = coherence.withLock { $0.isCurrent(lookup) }
                let outcome = isCurrent ? share() : .refused
                if case .refused = outcome { local.removeCopy(id, of: url) }
                coherence.withLock { $0.end(lookup) }
            }
            return id
        }

        /// The lease that the server knows, if any; nil for a lease of this machine that has passed to another process.
        private func shared(_ lease: Lease?) -> Lease?? {
            guard let lease, lease.isLocal else { return lease }
            return local.isLatest(lease) ? .some(nil) : nil
        }

        /// Length and checksum of a body, where it is kept, and what the server gets of it.
        private func content(_ body: MirroredEntry.Body) -> (StoredBodyFacts, SharedEntry.Place, Data) {
            switch body {
            case .data(let data) where data.count <= options.largestSharedBody: (StoredBodyFacts(data), .server, data)
            case .data(let data): (StoredBodyFacts(data), .local, Data())
            case .memory(let data): (StoredBodyFacts(data), .memory, Data())
            case .file(let file): (StoredBodyFacts(size: file.count, checksum: file.checksum), .local, Data())
            }
        }

        /// Makes the local level agree; returns whether the entry is stored.
        private func finish(
            _ outcome: Outcome, _ copy: MirroredEntry, of url: String, _ lookup: Coherence.Lookup, under lease: Lease?
        ) -> Bool {
            defer { coherence.withLock { $0.end(lookup) } }
            switch outcome {
            case .done(let count): return keep(copy, of: url, lookup, count: count)
            case .refused:
                local.removeEntries(for: url)  // what was removed may have been copied before
                return false
            case .unavailable:
                return (lease.map(lasts) ?? true) && keep(copy, of: url, lookup, count: 0)
            }
        }

        /// Keeps a copy unless the URL has changed since; returns whether it did.
        ///
        /// - Parameter count: how many entries the URL has; 0 if this is not known.
        @discardableResult
        private func keep(_ copy: MirroredEntry, of url: String, _ lookup: Coherence.Lookup, count: Int) -> Bool {
            guard coherence.withLock({ $0.isCurrent(lookup) }) else { return false }
            guard local.keep(copy, of: url) else { return false }
            let isCurrent = coherence.withLock { coherence in
                guard coherence.isCurrent(lookup) else { return false }
                if count <= 1 { coherence.didCopy(URLDigest(url).first, count: count) }
                return true
            }
            if !isCurrent { local.removeCopy(copy.id, of: url) }
            return isCurrent
        }

        private func send(
            _ entry: SharedEntry, _ body: Data, expecting token: String?, under lease: Lease?
        ) -> Outcome {
            let (url, value) = (entry.response.url, entry.encoded)
            guard value.count <= SharedEntry.largest else { return .unavailable }
            return change(under: lease) { generation, fenced in
                let key = keys.entries(of: URLDigest(url), in: generation)
                return Command(
                    .store, keys: [key, key + ":" + entry.variant] + fenced.map { keys.token($0.key) },
                    [
                        .text(entry.variant), .data(value), .data(body),
                        .text(entry.isLocal ? "0" : "1"), .text("\(milliseconds(entry.response))"), .text(token ?? "?"),
                        .text(keys.changes), message(.changed(url: url)), .text("\(Self.mostVariants)"),
                        .text(fenced.first.map { "\($0.token)" } ?? ""),
                    ])
            }
        }

        private func milliseconds(_ response: StoredResponse) -> Int {
            SharedLifetime.milliseconds(of: response, at: time.now, staleRetention: options.staleRetention)
        }

        /// Runs a script that changes entries, and whose answer is positive if it did.
        ///
        /// - Parameter command: makes the command; its lease is to be checked by the script, if it can.
        private func change(under lease: Lease?, _ command: (String, [Lease]) -> Command) -> Outcome {
            do throws(LinkFailure) {
                var fenced = lease.map { [$0] } ?? []
                if let lease, server.isCluster {  // the token is on another node
                    guard try isLatest(lease) else { return .refused }
                    fenced = []
                }
                let generation = try generation()
                let replies = try server.run([keys.currentGeneration, command(generation, fenced)])
                guard replies[0].text == generation else {
                    adopt(replies[0].text)  // everything was removed
                    return .refused
                }
                let reply = replies[1]
                if case .error(.refusesWrites(let why)) = reply { return refuses(why) }
                counts.withLock { $0.refusesWrites = false }
                return reply.number.map { $0 > 0 ? .done($0) : .refused } ?? .unavailable
            } catch {
                return .unavailable
            }
        }

        private func refuses(_ why: String) -> Outcome {
            let isKnown = counts.withLock { counts in
                defer { counts.refusesWrites = true }
                return counts.refusesWrites
            }
            if !isKnown { report("the shared cache at \(server.address.name) takes no responses: \(why)") }
            return .unavailable
        }

        // MARK: - Updating

        func update(_ entry: StoredEntry, to response: StoredResponse, under granted: Lease? = nil) {
            let url = entry.response.url
            guard response.url == url, let lease = shared(granted) else { return }
            let key = URLDigest(url).first
            let (isPending, count, lookup) = coherence.withLock { coherence in
                let count = coherence.localCount(key)
                coherence.noteChange(key)
                return (coherence.pending.contains(url), count, coherence.begin(key))
            }
            defer { coherence.withLock { $0.end(lookup) } }
            let outcome = mayWait && !isPending ? send(entry, response, under: lease) : .unavailable
            switch outcome {
            case .refused: return
            case .unavailable where lease.map(lasts) == false: return
            case .done, .unavailable: local.update(entry, to: response)
            }
            guard let count else { return }
            coherence.withLock { if $0.isCurrent(lookup) { $0.didCopy(key, count: count) } }
        }

        private func send(_ entry: StoredEntry, _ response: StoredResponse, under lease: Lease?) -> Outcome {
            guard let found = try? read(entry.response.url) else { return .unavailable }
            guard let old = found.entries.first(where: { $0.id == entry.id }),
                let new = old.updated(to: response, revision: MonotonicID.next())
            else { return .refused }
            let value = new.encoded
            guard value.count <= SharedEntry.largest else { return .refused }
            return change(under: lease) { generation, fenced in
                let key = keys.entries(of: URLDigest(response.url), in: generation)
                return Command(
                    .update,
                    keys: [key, key + ":" + old.variant, key + ":" + new.variant] + fenced.map { keys.token($0.key) },
                    [
                        .text(old.variant), .text(UInt64(bitPattern: old.id).hexadecimal), .text(new.variant),
                        .data(value),
                        .text("\(milliseconds(response))"), .text(keys.changes), message(.changed(url: response.url)),
                        .text(fenced.first.map { "\($0.token)" } ?? ""),
                    ])
            }
        }

        // MARK: - Removing

        func remove(_ entry: StoredEntry) {
            let url = entry.response.url
            let key = URLDigest(url).first
            coherence.withLock { $0.noteChange(key) }
            local.remove(entry)
            let outcome =
                !mayWait
                ? .unavailable
                : change(under: nil) { generation, _ in
                    let key = keys.entries(of: URLDigest(url), in: generation)
                    let variant = SharedEntry.variant(entry.response.variantKey)
                    return Command(
                        .remove, keys: [key, key + ":" + variant],
                        [
                            .text(variant), .text(UInt64(bitPattern: entry.id).hexadecimal), .text(keys.changes),
                            message(.changed(url: url)),
                        ])
                }
            if case .unavailable = outcome { removeEntries(for: url) }
        }

        /// Takes effect here at once, and on the server as soon as it answers.
        func removeEntries(for url: String) {
            let token = Self.random()
            coherence.withLock { coherence in
                coherence.noteOwnRemoval(URLDigest(url).first, token: token)
                coherence.addPending(url, token: token)
            }
            local.removeEntries(for: url)
            deliver()
        }

        func removeAll() {
            let generation = Self.random()
            coherence.withLock { coherence in
                coherence.noteSweep(generation: nil, at: nil)
                coherence.addPendingSweep(generation)
            }
            local.removeAllCachedResponses()
            deliver()
        }

        private func deliver() {
            if !mayWait || deliverRemovals() { subscription.wake() }
        }

        /// Tells the server of removals; returns whether some are left.
        func deliverRemovals() -> Bool {
            if coherence.withLock({ $0.pending.isEmpty }) { return false }
            return deliveries.sync { deliverNext() }
        }

        private func deliverNext() -> Bool {
            let pending = coherence.withLock { $0.pending }
            guard !pending.isEmpty else { return false }
            if let generation = pending.sweep {
                guard isDone(sweep(to: generation)) else { return true }
                coherence.withLock { $0.didDeliverSweep(generation) }
            }
            for (url, token) in pending.tokens {
                guard isDone(invalidate(url, token)) else { return true }
                coherence.withLock { $0.didDeliver(url, token: token) }
            }
            return coherence.withLock { !$0.pending.isEmpty }
        }

        private func isDone(_ outcome: Outcome) -> Bool { if case .done = outcome { true } else { false } }

        private func sweep(to generation: String) -> Outcome {
            do throws(LinkFailure) {
                let reply = try server.run([
                    Command(
                        .begin, keys: [keys.generation],
                        [.text(generation), .text(keys.changes), message(.generation(generation))])
                ])[0]
                return reply == .number(1) ? .done(1) : .unavailable
            } catch {
                return .unavailable
            }
        }

        private func invalidate(_ url: String, _ token: String) -> Outcome {
            change(under: nil) { generation, _ in
                Command(
                    .invalidate, keys: [keys.entries(of: URLDigest(url), in: generation)],
                    [
                        .text(token), .text("\(Self.removalMemory)"), .text(keys.changes),
                        message(.removed(url: url, token: token)),
                    ])
            }
        }
    }
#endif
