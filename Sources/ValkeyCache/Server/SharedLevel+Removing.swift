#if Valkey && canImport(CHiredis)
    import Foundation
    import SQLiteCache

    extension SharedLevel {
        /// Milliseconds for which the server remembers a removal: longer than loads take.
        private static let removalMemory = 600_000

        func remove(_ entry: StoredEntry) {
            let url = entry.response.url
            removeLocally(entry)
            let outcome =
                !mayWait
                ? .unavailable
                : change { generation in
                    let key = keys.entries(of: URLDigest(url), in: generation)
                    let variant = SharedEntry.variant(entry.response.variantKey)
                    return Command(
                        .remove, keys: [key, key + ":" + variant],
                        arguments: [
                            .text(variant), .text(UInt64(bitPattern: entry.id).hexadecimal), .text(keys.changes),
                            message(.changed(url: url)),
                        ])
                }
            if case .unavailable = outcome { return removeEntries(for: url) }
            // Meanwhile a lookup may have copied the entry.
            removeLocally(entry)
        }

        private func removeLocally(_ entry: StoredEntry) {
            let key = URLDigest.key(entry.response.url)
            coherence.withLock { $0.noteChange(key) }
            local.remove(entry)
        }

        /// Removes the entries of a URL: from the local level at once, and from the server as soon as it answers.
        func removeEntries(for url: String) {
            let (token, key) = (Self.random(), URLDigest.key(url))
            coherence.withLock { coherence in
                coherence.noteOwnRemoval(key, token: token)
                coherence.addPending(url, token: token)
            }
            local.removeEntries(for: url)
            let isDelivered = mayWait && inTurn { deliverSweep() && deliverRemoval(of: url, token: token) } == true
            if !isDelivered { subscription.wake() }
        }

        func removeAll() {
            let generation = Self.random()
            coherence.withLock { coherence in
                coherence.noteSweep(generation: nil, at: nil)
                coherence.addPendingSweep(generation)
            }
            local.removeAllCachedResponses()
            let isDelivered = mayWait && inTurn { deliverSweep() } == true
            if !isDelivered { subscription.wake() }
        }

        /// The most new removals that the subscription's thread sends to the server before it listens again.
        private static let mostNew = 16
        /// The most removals that it sends again. Each may cost two calls to nodes that work.
        private static let mostRetries = 4

        /// Sends some pending removals to the server.
        ///
        /// - Parameter isRetrying: whether to send some again that have failed.
        func deliverRemovals(isRetrying: Bool) -> Subscription.Work {
            if coherence.withLock({ $0.pending.isEmpty }) { return .done }
            guard inTurn({ deliverSweep() }) == true else { return .failed }
            var hasDelivered = false
            let (new, retries) = coherence.withLock { coherence in
                let tokens = coherence.pending.tokens
                return (min(tokens.newCount, Self.mostNew), isRetrying ? min(tokens.failedCount, Self.mostRetries) : 0)
            }
            for number in 0..<new + retries {
                let next = coherence.withLock { $0.pending.tokens.next(isNew: number < new) }
                guard let (url, token) = next else { continue }
                guard let isDone = inTurn({ deliverRemoval(of: url, token: token) }) else { return .failed }
                if isDone { hasDelivered = true }
            }
            return coherence.withLock { coherence in
                if coherence.pending.isEmpty { return .done }
                return hasDelivered || coherence.pending.tokens.newCount > 0 ? .isLeft : .failed
            }
        }

        /// Runs a delivery once no other thread runs one, and returns its result; nil if the other threads take longer than a call
        /// may wait.
        private func inTurn(_ delivery: () -> Bool) -> Bool? {
            guard deliveries.wait(timeout: .now() + server.limit) == .success else { return nil }
            defer { deliveries.signal() }
            return delivery()
        }

        /// Sends the removal of everything to the server, if it is pending. Returns false if it is still pending afterwards.
        private func deliverSweep() -> Bool {
            guard let generation = coherence.withLock({ $0.pending.sweep }) else { return true }
            guard isDone(sweep(to: generation)) else {
                coherence.withLock { $0.renewPendingSweep(generation, to: Self.random()) }
                return false
            }
            coherence.withLock { $0.didDeliverSweep(generation) }
            return true
        }

        /// Sends the removal of a URL to the server, if it is pending. Returns false if it is still pending afterwards.
        private func deliverRemoval(of url: String, token: String) -> Bool {
            guard coherence.withLock({ $0.pending.tokens[url] }) == token else { return true }
            guard isDone(invalidate(url, token: token)) else {
                coherence.withLock { $0.renewPending(url, token: token, to: Self.random()) }
                return false
            }
            coherence.withLock { $0.didDeliver(url, token: token) }
            return true
        }

        private func isDone(_ outcome: ChangeOutcome) -> Bool { if case .done = outcome { true } else { false } }

        private func sweep(to generation: String) -> ChangeOutcome {
            do throws(LinkFailure) {
                let reply = try server.run([
                    Command(
                        .begin, keys: [keys.generation],
                        arguments: [.text(generation), .text(keys.changes), message(.generation(generation))])
                ])[0]
                return reply == .number(1) ? .done(1) : .unavailable
            } catch {
                return .unavailable
            }
        }

        private func invalidate(_ url: String, token: String) -> ChangeOutcome {
            change { generation in
                Command(
                    .invalidate, keys: [keys.entries(of: URLDigest(url), in: generation)],
                    arguments: [
                        .text(token), .text("\(Self.removalMemory)"), .text(keys.changes),
                        message(.removed(url: url, token: token)),
                    ])
            }
        }
    }
#endif
