#if Valkey && canImport(CHiredis)
    import Foundation
    import HTTPCaching
    import SQLiteCache
    import SynchronizerSupport

    extension SharedLevel {
        /// The result of a change at the server.
        enum ChangeOutcome {
            /// The script's positive result: after a store, the number of entries that the URL has now.
            case done(Int)
            /// The URL was removed since, a later response is stored, or the entry is gone.
            case refused
            /// The server has neither made nor refused the change, for example because it cannot be used.
            case unavailable
        }

        /// The most variants of a URL, as in `SQLiteURLCache`.
        private static let maximumVariants = 64

        // MARK: - Storing

        /// A response for the local level.
        private struct Copy {
            let entry: MirroredEntry
            let expires: Date
        }

        /// The conditions under which a response is stored.
        private struct Terms {
            /// The token of the last removal; nil if this process does not know it.
            let token: String?
            /// Whether this process can't have missed a removal since the request.
            let knowsRemovals: Bool
            /// Whether a removal of the URL by this process has not reached the server yet.
            let isPending: Bool
            /// Whether the local level could answer for the URL before this store. Otherwise another machine may have removed what
            /// the local level has.
            let hasValidCopies: Bool
            /// Whether the local level has a copy that machines may still use. Then other machines may have one, too, even if the
            /// server has evicted its entry.
            let replacesCopy: Bool
            let lookup: Coherence.Lookup
        }

        /// Stores a response; returns the identifier of the new entry, or nil if the response is not stored.
        ///
        /// - Parameter isRequestedNow: whether the time of the request is unknown, so that the response counts as requested now.
        ///   Then removals before this call do not matter.
        func store(_ record: StoredRecord, body: MirroredEntry.Body, isRequestedNow: Bool = false) -> Int64? {
            let (url, id) = (record.response.url, MonotonicID.next())
            let (facts, place, shared) = content(body)
            let entry = SharedEntry(
                record, id: id, revision: id, body: facts, place: place, leaseNumber: leaseNumber(record.response))
            guard let terms = terms(of: url, requested: record.response.requestTime) else { return nil }
            if entry.isLocal { coherence.withLock { $0.noteOwnEntry(id, of: URLDigest.key(url)) } }
            let copy = Copy(
                entry: MirroredEntry(id: id, record: entry.record, variant: record.response.variantKey, body: body),
                expires: SharedLifetime.expiration(of: record.response))
            let share = { @Sendable [self] in offer(entry, body: shared, on: terms, isRequestedNow: isRequestedNow) }
            guard !mayWait, !terms.isPending, !ForkedProcess.isCurrent else {
                return finish(copy, of: url, after: share(), on: terms) ? id : nil
            }
            if terms.knowsRemovals { keep(copy, of: url, on: terms, count: 0) }
            queue.async { [self] in
                let isCurrent = coherence.withLock { $0.isCurrent(terms.lookup) }
                let outcome = isCurrent ? share() : .refused
                if case .refused = outcome { local.removeCopy(id, of: url) }
                coherence.withLock { coherence in
                    // The local level may not have the other entries.
                    if case .done(2...) = outcome { coherence.forget(URLDigest.key(url)) }
                    coherence.end(terms.lookup)
                }
            }
            return id
        }

        /// nil if the response must not be stored, because of a removal after its request.
        private func terms(of url: String, requested: Date) -> Terms? {
            let key = URLDigest.key(url)
            return coherence.withLock { coherence in
                let now = time.now  // while this thread holds the lock, as `storeCondition` needs
                let condition = coherence.storeCondition(key, requested: requested, at: now)
                let hasValidCopies = coherence.answersAlone(key)
                let replacesCopy = coherence.localCount(key, at: now - TimeInterval(Script.slowestClock)) != nil
                coherence.noteChange(key)
                guard case .expecting(let token) = condition else { return nil }
                return Terms(
                    token: token, knowsRemovals: coherence.knowsRemovals(since: requested, at: now),
                    isPending: coherence.pending.contains(url), hasValidCopies: hasValidCopies,
                    replacesCopy: replacesCopy, lookup: coherence.begin(key))
            }
        }

        /// Offers an entry to the server, if this process knows which removal of the URL came last.
        private func offer(
            _ entry: SharedEntry, body: Data, on terms: Terms, isRequestedNow: Bool
        ) -> ChangeOutcome {
            let readToken = { isRequestedNow ? self.readToken(of: entry, during: terms.lookup) : nil }
            var outcome = ChangeOutcome.unavailable
            if mayWait, !terms.isPending, let token = terms.token ?? readToken() {
                outcome = send(entry, body: body, expecting: token, replacesCopy: terms.replacesCopy)
                // The server may have forgotten the removal that this process knows, or may know a later one.
                if case .refused = outcome, let last = readToken(), last != token {
                    outcome = send(entry, body: body, expecting: last, replacesCopy: terms.replacesCopy)
                }
            }
            // Only the server knows the removals that this process may have missed.
            if case .unavailable = outcome, !terms.knowsRemovals { return .refused }
            return outcome
        }

        /// The token of the last removal; nil if this process has removed the URL, or heard of a removal, since the store began.
        private func readToken(of entry: SharedEntry, during lookup: Coherence.Lookup) -> String? {
            guard let token = try? read(entry.response.url, wanting: .none).token else { return nil }
            let (key, now) = (URLDigest.key(entry.response.url), time.now)
            return coherence.withLock { coherence in
                guard coherence.isCurrent(lookup) else { return nil }
                coherence.noteToken(token, of: key, at: now)
                return token
            }
        }

        /// The length and the checksum of a body, the place where it is kept, and the bytes that the server gets.
        private func content(_ body: MirroredEntry.Body) -> (StoredBody, SharedEntry.Place, Data) {
            switch body {
            case .data(let data) where data.count <= limits.sharedBody: (StoredBody(data), .server, data)
            case .data(let data): (StoredBody(data), .local, Data())
            case .memory(let data): (StoredBody(data), .memory, Data())
            case .file(let file): (StoredBody(length: file.count, checksum: file.checksum), .local, Data())
            }
        }

        /// Applies the server's outcome to the local level; returns whether the entry is stored.
        private func finish(
            _ copy: Copy, of url: String, after outcome: ChangeOutcome, on terms: Terms
        ) -> Bool {
            defer { coherence.withLock { $0.end(terms.lookup) } }
            switch outcome {
            case .done(let count): return keep(copy, of: url, on: terms, count: count)
            case .refused:
                local.removeEntries(for: url)  // a removed entry may have been copied before
                return false
            case .unavailable:
                return keep(copy, of: url, on: terms, count: 0)
            }
        }

        /// Keeps a copy unless the URL has changed since; returns whether the copy is kept. If the URL counts as copied from then
        /// on, this also removes its other entries that may be obsolete.
        ///
        /// - Parameter count: the number of the URL's entries; 0 if it is not known.
        @discardableResult
        private func keep(_ copy: Copy, of url: String, on terms: Terms, count: Int) -> Bool {
            guard coherence.withLock({ $0.isCurrent(terms.lookup) }) else { return false }
            let isOnly = count <= 1
            let obsolete = isOnly && !terms.hasValidCopies ? local.copies(of: url) : []
            guard local.keep(copy.entry, of: url, yields: count == 0) else { return false }
            for old in obsolete { local.removeCopy(old.id, of: url) }
            let isCurrent = coherence.withLock { coherence in
                guard coherence.isCurrent(terms.lookup) else { return false }
                if isOnly { coherence.didCopy(URLDigest.key(url), count: count, until: copy.expires) }
                return true
            }
            if !isCurrent { local.removeCopy(copy.entry.id, of: url) }
            return isCurrent
        }

        private func send(
            _ entry: SharedEntry, body: Data, expecting token: String, replacesCopy: Bool
        ) -> ChangeOutcome {
            let (url, value) = (entry.response.url, entry.encoded)
            guard value.count <= SharedEntry.largest else { return .unavailable }
            let outcome = change { generation in
                let key = keys.entries(of: URLDigest(url), in: generation)
                return Command(
                    .store, keys: [key, key + ":" + entry.variant],
                    arguments: [
                        .text(entry.variant), .data(value), .data(body),
                        .text(entry.isLocal ? "0" : "1"), .text("\(milliseconds(entry.response))"), .text(token),
                        .text(keys.changes), message(.changed(url: url)), .text("\(Self.maximumVariants)"),
                        .text(SharedEntry.time(time.now)), .text(replacesCopy ? "1" : "0"),
                    ])
            }
            // Only a store shows that the server takes stores again: a full server makes removals.
            if case .done = outcome { counts.withLock { $0.refusals.end() } }
            return outcome
        }

        /// The number of a response's lease. An update without a lease keeps the number of the response that it has confirmed.
        private func leaseNumber(_ response: StoredResponse, updating old: SharedEntry? = nil) -> UInt64 {
            let key = URLDigest.key(response.url)
            let number = leaseNumbers.withLock { $0.number(of: key, requested: response.requestTime) }
            return number == 0 ? old?.leaseNumber ?? 0 : number
        }

        private func milliseconds(_ response: StoredResponse) -> Int {
            SharedLifetime.milliseconds(of: response, at: time.now, staleRetention: limits.staleRetention)
        }

        /// Runs a script that changes entries, and that returns a positive number if it has changed them.
        func change(_ command: (_ generation: String) -> Command) -> ChangeOutcome {
            do throws(LinkFailure) {
                let generation = try generation()
                let replies = try server.run([keys.currentGeneration, command(generation)])
                guard replies[0].text == generation else {
                    adopt(replies[0].text, insteadOf: generation)  // everything was removed
                    return .refused
                }
                let reply = replies[1]
                if case .error(.refusesWrites(let why)) = reply { return refuses(why) }
                return reply.number.map { $0 > 0 ? .done($0) : .refused } ?? .unavailable
            } catch {
                return .unavailable
            }
        }

        private func refuses(_ why: String) -> ChangeOutcome {
            let logs = counts.withLock { $0.refusals.note(at: SharedServer.now) }
            if logs { report("the shared cache at \(server.address.name) stores no responses: \(why)") }
            return .unavailable
        }

        // MARK: - Updating

        /// Returns false if the entry is not updated.
        func update(_ entry: StoredEntry, to response: StoredResponse) -> Bool {
            let url = entry.response.url
            guard response.url == url else { return false }
            let key = URLDigest.key(url)
            let (isPending, count, answersAlone, lookup) = coherence.withLock { coherence in
                let (count, answersAlone) = (coherence.copyCount(key), coherence.answersAlone(key))
                coherence.noteChange(key)
                return (coherence.pending.contains(url), count, answersAlone, coherence.begin(key))
            }
            defer { coherence.withLock { $0.end(lookup) } }
            let outcome = mayWait && !isPending ? sendUpdate(of: entry, to: response) : .unavailable
            if case .refused = outcome { return false }
            guard local.update(entry, to: response) else { return false }
            var copied = count
            // As after a store, the local level goes on answering while the server cannot.
            if case .unavailable = outcome, answersAlone { copied = count ?? 0 }
            if let copied {
                let expires = SharedLifetime.expiration(of: response)
                coherence.withLock { if $0.isCurrent(lookup) { $0.didCopy(key, count: copied, until: expires) } }
            }
            return true
        }

        private func sendUpdate(of entry: StoredEntry, to response: StoredResponse) -> ChangeOutcome {
            guard let found = try? read(entry.response.url, wanting: .none) else { return .unavailable }
            let key = URLDigest.key(entry.response.url)
            let condition = coherence.withLock {
                $0.storeCondition(key, requested: response.requestTime, at: time.now)
            }
            let old = found.entries.first { $0.id == entry.id }
            let isReplaced = found.replacesOnlyElsewhere(entry.response)
            // The server has evicted the URL, or has the entry of another machine. The local level still has its own.
            if old == nil, found.entries.isEmpty || isReplaced, condition == .expecting(found.token) {
                return .unavailable
            }
            guard let old,
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
