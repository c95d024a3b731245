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
            let hasMany = coherence.withLock { coherence in
                defer { coherence.addPending(url, token: token) }
                coherence.noteOwnRemoval(key, token: token)
                return coherence.pending.sweep != nil || coherence.pending.tokens.count >= Self.maximumAtOnce
            }
            local.removeEntries(for: url)
            // If many removals are pending, the server is slow or has failed. The caller leaves them to the subscription's thread.
            let isDelivered = !hasMany && mayWait && inTurn { deliverRemoval(of: url, token: token) }
            if !isDelivered { subscription.wake() }
        }

        func removeAll() {
            let generation = Self.random()
            coherence.withLock { coherence in
                coherence.noteSweep(generation: nil, at: nil)
                coherence.addPendingSweep(generation)
            }
            local.removeAllCachedResponses()
            let isDelivered = mayWait && inTurn { deliverSweep() }
            if !isDelivered { subscription.wake() }
        }

        /// The most removals that the subscription's thread sends to the server before it listens again.
        private static let maximumAtOnce = 16

        /// Sends some pending removals to the server.
        func deliverRemovals() -> Subscription.Work {
            if coherence.withLock({ $0.pending.isEmpty }) { return .done }
            guard inTurn({ deliverSweep() }) else { return .failed }
            for (url, token) in coherence.withLock({ $0.pending.tokens.prefix(Self.maximumAtOnce) }) {
                guard inTurn({ deliverRemoval(of: url, token: token) }) else { return .failed }
            }
            return coherence.withLock { $0.pending.isEmpty } ? .done : .isLeft
        }

        /// Runs a delivery once no other thread runs one. Returns false if the delivery fails, or if the other threads take longer
        /// than a call may wait.
        private func inTurn(_ delivery: () -> Bool) -> Bool {
            guard deliveries.wait(timeout: .now() + server.limit) == .success else { return false }
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
