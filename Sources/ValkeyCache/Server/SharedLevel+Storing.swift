#if Valkey && canImport(CHiredis)
    import Foundation
    import HTTPCaching
    import SQLiteCache
    import SynchronizerSupport

    extension SharedLevel {
        /// How a change went at the server.
        enum ChangeOutcome {
            /// The number of entries that the URL has now.
            case done(Int)
            /// A removal came before, a response that was requested later is stored, or the entry is gone.
            case refused
            case unavailable
        }

        /// The most variants of a URL, as in `SQLiteURLCache`.
        private static let mostVariants = 64

        // MARK: - Storing

        /// On which terms a response is stored.
        private struct Terms {
            /// The token of the last removal; nil if this process does not know it.
            let token: String?
            /// Whether all removals since the request were announced.
            let isTold: Bool
            /// Whether the server does not know a removal by this process yet.
            let isPending: Bool
            let lookup: Coherence.Lookup
        }

        /// Stores a response; returns the identifier of the new entry, nil if it is not stored.
        ///
        /// - Parameter isRequestedNow: whether the caller does not know when it was requested. Then removals before this call
        ///   do not matter.
        func store(_ record: StoredRecord, body: MirroredEntry.Body, isRequestedNow: Bool = false) -> Int64? {
            let (url, id) = (record.response.url, MonotonicID.next())
            let (facts, place, shared) = content(body)
            let entry = SharedEntry(
                record, id: id, revision: id, body: facts, place: place, leaseNumber: leaseNumber(record.response))
            guard let terms = terms(of: url, requested: record.response.requestTime) else { return nil }
            let copy = MirroredEntry(
                id: id, record: entry.record, variant: record.response.variantKey, body: body)
            let share = { @Sendable [self] in offer(entry, body: shared, on: terms, isRequestedNow: isRequestedNow) }
            guard !mayWait, !terms.isPending, !ForkedProcess.isCurrent else {
                return finish(copy, of: url, after: share(), during: terms.lookup) ? id : nil
            }
            if terms.isTold { keep(copy, of: url, during: terms.lookup, count: 0) }
            queue.async { [self] in
                let isCurrent = coherence.withLock { $0.isCurrent(terms.lookup) }
                let outcome = isCurrent ? share() : .refused
                if case .refused = outcome { local.removeCopy(id, of: url) }
                coherence.withLock { $0.end(terms.lookup) }
            }
            return id
        }

        /// nil if a removal is known that came after the request.
        private func terms(of url: String, requested: Date) -> Terms? {
            let key = URLDigest.key(url)
            return coherence.withLock { coherence in
                let fence = coherence.fence(key, requested: requested)
                coherence.noteChange(key)
                guard case .expecting(let token) = fence else { return nil }
                return Terms(
                    token: token, isTold: coherence.knowsRemovals(since: requested),
                    isPending: coherence.pending.contains(url), lookup: coherence.begin(key))
            }
        }

        /// Offers an entry to the server, if this process knows which removal of the URL came last.
        private func offer(
            _ entry: SharedEntry, body: Data, on terms: Terms, isRequestedNow: Bool
        ) -> ChangeOutcome {
            var outcome = ChangeOutcome.unavailable
            if mayWait, !terms.isPending, let token = terms.token ?? (isRequestedNow ? readToken(of: entry) : nil) {
                outcome = send(entry, body: body, expecting: token)
            }
            // The server alone knows of removals that were not announced.
            if case .unavailable = outcome, !terms.isTold { return .refused }
            return outcome
        }

        private func readToken(of entry: SharedEntry) -> String? {
            guard let token = try? read(entry.response.url, wanting: .none).token else { return nil }
            let key = URLDigest.key(entry.response.url)
            coherence.withLock { $0.noteToken(token, of: key, at: entry.response.requestTime) }
            return token
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
            _ copy: MirroredEntry, of url: String, after outcome: ChangeOutcome, during lookup: Coherence.Lookup
        ) -> Bool {
            defer { coherence.withLock { $0.end(lookup) } }
            switch outcome {
            case .done(let count): return keep(copy, of: url, during: lookup, count: count)
            case .refused:
                local.removeEntries(for: url)  // a removed entry may have been copied before
                return false
            case .unavailable:
                return keep(copy, of: url, during: lookup, count: 0)
            }
        }

        /// Keeps a copy unless the URL has changed since; returns whether it did.
        ///
        /// - Parameter count: how many entries the URL has; 0 if this is not known.
        @discardableResult
        private func keep(
            _ copy: MirroredEntry, of url: String, during lookup: Coherence.Lookup, count: Int
        ) -> Bool {
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

        private func send(_ entry: SharedEntry, body: Data, expecting token: String) -> ChangeOutcome {
            let (url, value) = (entry.response.url, entry.encoded)
            guard value.count <= SharedEntry.largest else { return .unavailable }
            return change { generation in
                let key = keys.entries(of: URLDigest(url), in: generation)
                return Command(
                    .store, keys: [key, key + ":" + entry.variant],
                    arguments: [
                        .text(entry.variant), .data(value), .data(body),
                        .text(entry.isLocal ? "0" : "1"), .text("\(milliseconds(entry.response))"), .text(token),
                        .text(keys.changes), message(.changed(url: url)), .text("\(Self.mostVariants)"),
                        .text(SharedEntry.time(time.now)),
                    ])
            }
        }

        /// An update without a lease keeps the number of the response that it has confirmed.
        private func leaseNumber(_ response: StoredResponse, updating old: SharedEntry? = nil) -> UInt64 {
            let key = URLDigest.key(response.url)
            let number = leaseNumbers.withLock { $0.number(of: key, requested: response.requestTime) }
            return number == 0 ? old?.leaseNumber ?? 0 : number
        }

        private func milliseconds(_ response: StoredResponse) -> Int {
            SharedLifetime.milliseconds(of: response, at: time.now, staleRetention: options.staleRetention)
        }

        /// Runs a script that changes entries, and whose answer is positive if it did.
        func change(_ command: (_ generation: String) -> Command) -> ChangeOutcome {
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

        private func refuses(_ why: String) -> ChangeOutcome {
            let isKnown = counts.withLock { counts in
                defer { counts.refusesWrites = true }
                return counts.refusesWrites
            }
            if !isKnown { report("the shared cache at \(server.address.name) stores no responses: \(why)") }
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
            let outcome = mayWait && !isPending ? sendUpdate(of: entry, to: response) : .unavailable
            if case .refused = outcome { return false }
            guard local.update(entry, to: response) else { return false }
            if let count { coherence.withLock { if $0.isCurrent(lookup) { $0.didCopy(key, count: count) } } }
            return true
        }

        private func sendUpdate(of entry: StoredEntry, to response: StoredResponse) -> ChangeOutcome {
            guard let found = try? read(entry.response.url, wanting: .none) else { return .unavailable }
            let key = URLDigest.key(entry.response.url)
            let fence = coherence.withLock { $0.fence(key, requested: response.requestTime) }
            // The server has evicted the URL. The local level still has it.
            if found.entries.isEmpty, fence == .expecting(found.token) { return .unavailable }
            guard let old = found.entries.first(where: { $0.id == entry.id }),
                let new = old.updated(
                    to: response, revision: MonotonicID.next(), leaseNumber: leaseNumber(response, updating: old))
            else { return .refused }
            let value = new.encoded
            guard value.count <= SharedEntry.largest else { return .refused }
            return change { generation in
                let key = keys.entries(of: URLDigest(response.url), in: generation)
                return Command(
                    .update,
                    keys: [key, key + ":" + old.variant, key + ":" + new.variant],
                    arguments: [
                        .text(old.variant), .text(UInt64(bitPattern: old.id).hexadecimal), .text(new.variant),
                        .data(value),
                        .text("\(milliseconds(response))"), .text(keys.changes), message(.changed(url: response.url)),
                        .text(SharedEntry.time(time.now)),
                    ])
            }
        }
    }
#endif
