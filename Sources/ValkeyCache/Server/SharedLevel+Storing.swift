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
            /// A removal came before, a response that was requested later is stored, or the entry is gone.
            case refused
            case unavailable
        }

        /// The most variants of a URL, as in `SQLiteURLCache`.
        private static let mostVariants = 64
        /// Milliseconds for which the server remembers a removal: longer than loads take.
        private static let removalMemory = 600_000

        // MARK: - Storing

        /// Stores a response; returns the identifier of the new entry, nil if it is not stored.
        func store(_ record: StoredRecord, body: MirroredEntry.Body) -> Int64? {
            let (url, id) = (record.response.url, MonotonicID.next())
            let (facts, place, shared) = content(body)
            let entry = SharedEntry(record, id: id, revision: id, body: facts, place: place)
            let key = URLDigest.key(url)
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
                isPending ? .unavailable : send(entry, shared, expecting: token)
            }
            guard !mayWait, !isPending, !ForkedProcess.isCurrent else {
                let outcome = mayWait ? share() : .unavailable
                return finish(outcome, copy, of: url, lookup) ? id : nil
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
            _ outcome: Outcome, _ copy: MirroredEntry, of url: String, _ lookup: Coherence.Lookup
        ) -> Bool {
            defer { coherence.withLock { $0.end(lookup) } }
            switch outcome {
            case .done(let count): return keep(copy, of: url, lookup, count: count)
            case .refused:
                local.removeEntries(for: url)  // what was removed may have been copied before
                return false
            case .unavailable:
                return keep(copy, of: url, lookup, count: 0)
            }
        }

        /// Keeps a copy unless the URL has changed since; returns whether it did.
        ///
        /// - Parameter count: how many entries the URL has; 0 if this is not known.
        @discardableResult
        private func keep(_ copy: MirroredEntry, of url: String, _ lookup: Coherence.Lookup, count: Int) -> Bool {
            guard coherence.withLock({ $0.isCurrent(lookup) }) else { return false }
            guard local.keep(copy, of: url, yields: count == 0) else { return false }
            let isCurrent = coherence.withLock { coherence in
                guard coherence.isCurrent(lookup) else { return false }
                if count <= 1 { coherence.didCopy(URLDigest.key(url), count: count) }
                return true
            }
            if !isCurrent { local.removeCopy(copy.id, of: url) }
            return isCurrent
        }

        private func send(
            _ entry: SharedEntry, _ body: Data, expecting token: String?
        ) -> Outcome {
            let (url, value) = (entry.response.url, entry.encoded)
            guard value.count <= SharedEntry.largest else { return .unavailable }
            return change { generation in
                let key = keys.entries(of: URLDigest(url), in: generation)
                return Command(
                    .store, keys: [key, key + ":" + entry.variant],
                    [
                        .text(entry.variant), .data(value), .data(body),
                        .text(entry.isLocal ? "0" : "1"), .text("\(milliseconds(entry.response))"), .text(token ?? "?"),
                        .text(keys.changes), message(.changed(url: url)), .text("\(Self.mostVariants)"),
                        .text(SharedEntry.time(time.now)),
                    ])
            }
        }

        private func milliseconds(_ response: StoredResponse) -> Int {
            SharedLifetime.milliseconds(of: response, at: time.now, staleRetention: options.staleRetention)
        }

        /// Runs a script that changes entries, and whose answer is positive if it did.
        private func change(_ command: (_ generation: String) -> Command) -> Outcome {
            do throws(LinkFailure) {
                let generation = try generation()
                let replies = try server.run([keys.currentGeneration, command(generation)])
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

        /// Returns false if the entry is not updated.
        func update(_ entry: StoredEntry, to response: StoredResponse) -> Bool {
            let url = entry.response.url
            guard response.url == url else { return false }
            let key = URLDigest.key(url)
            let (isPending, count, lookup) = coherence.withLock { coherence in
                let count = coherence.localCount(key)
                coherence.noteChange(key)
                return (coherence.pending.contains(url), count, coherence.begin(key))
            }
            defer { coherence.withLock { $0.end(lookup) } }
            let outcome = mayWait && !isPending ? send(entry, response) : .unavailable
            if case .refused = outcome { return false }
            guard local.update(entry, to: response) else { return false }
            if let count { coherence.withLock { if $0.isCurrent(lookup) { $0.didCopy(key, count: count) } } }
            return true
        }

        private func send(_ entry: StoredEntry, _ response: StoredResponse) -> Outcome {
            guard let found = try? read(entry.response.url) else { return .unavailable }
            guard let old = found.entries.first(where: { $0.id == entry.id }),
                let new = old.updated(to: response, revision: MonotonicID.next())
            else { return .refused }
            let value = new.encoded
            guard value.count <= SharedEntry.largest else { return .refused }
            return change { generation in
                let key = keys.entries(of: URLDigest(response.url), in: generation)
                return Command(
                    .update,
                    keys: [key, key + ":" + old.variant, key + ":" + new.variant],
                    [
                        .text(old.variant), .text(UInt64(bitPattern: old.id).hexadecimal), .text(new.variant),
                        .data(value),
                        .text("\(milliseconds(response))"), .text(keys.changes), message(.changed(url: response.url)),
                        .text(SharedEntry.time(time.now)),
                    ])
            }
        }

        // MARK: - Removing

        func remove(_ entry: StoredEntry) {
            let url = entry.response.url
            let key = URLDigest.key(url)
            coherence.withLock { $0.noteChange(key) }
            local.remove(entry)
            let outcome =
                !mayWait
                ? .unavailable
                : change { generation in
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
            let (token, key) = (Self.random(), URLDigest.key(url))
            let hasMany = coherence.withLock { coherence in
                defer { coherence.addPending(url, token: token) }
                coherence.noteOwnRemoval(key, token: token)
                return coherence.pending.sweep != nil || coherence.pending.tokens.count >= Self.mostAtOnce
            }
            local.removeEntries(for: url)
            // If many are pending, the server is slow or has failed. The caller leaves them to the thread.
            let isDelivered = !hasMany && mayWait && deliveries.sync { deliver(url, token) }
            if !isDelivered { subscription.wake() }
        }

        func removeAll() {
            let generation = Self.random()
            coherence.withLock { coherence in
                coherence.noteSweep(generation: nil, at: nil)
                coherence.addPendingSweep(generation)
            }
            local.removeAllCachedResponses()
            let isDelivered = mayWait && deliveries.sync { deliverSweep() }
            if !isDelivered { subscription.wake() }
        }

        /// How many removals the thread tells the server of before it listens again.
        private static let mostAtOnce = 16

        /// Tells the server of some removals.
        func deliverRemovals() -> Subscription.Work {
            if coherence.withLock({ $0.pending.isEmpty }) { return .done }
            return deliveries.sync {
                guard deliverSweep() else { return .failed }
                for (url, token) in coherence.withLock({ $0.pending.tokens.prefix(Self.mostAtOnce) }) {
                    guard deliver(url, token) else { return .failed }
                }
                return coherence.withLock { $0.pending.isEmpty } ? .done : .isLeft
            }
        }

        /// Tells the server of the removal of everything, if that is pending; returns false if it still is.
        private func deliverSweep() -> Bool {
            guard let generation = coherence.withLock({ $0.pending.sweep }) else { return true }
            guard isDone(sweep(to: generation)) else { return false }
            coherence.withLock { $0.didDeliverSweep(generation) }
            return true
        }

        /// The same for a URL.
        private func deliver(_ url: String, _ token: String) -> Bool {
            guard coherence.withLock({ $0.pending.tokens[url] }) == token else { return true }
            guard isDone(invalidate(url, token)) else { return false }
            coherence.withLock { $0.didDeliver(url, token: token) }
            return true
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
            change { generation in
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
