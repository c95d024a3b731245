#if Valkey && canImport(CHiredis)
    import Foundation
    import SQLiteCache

    extension SharedLevel {
        /// Tells the server soon that a lease has ended. The caller does not wait.
        ///
        /// - Parameter end: the result for those who wait for the lease.
        func release(_ lease: Lease, as end: LeaseEnd) {
            if lease.isLocal { return end == .released ? local.release(lease) : local.abandon(lease) }
            guard !ForkedProcess.isCurrent else { return }
            let expires = leaseNumbers.withLock { $0.remove(token: lease.token, url: Self.urlKey(of: lease.key)) }
            releaseLater(EndedLease(lease: lease, end: end, expires: expires ?? .distantFuture))
        }

        func releaseLater(_ ended: EndedLease) {
            unreleased.withLock { unreleased in
                unreleased.append(ended)
                // The oldest leases have expired, or will expire soon.
                if unreleased.count > Self.maximumUnreleased { unreleased.removeFirst() }
            }
            subscription.wake()
        }

        /// The most releases that are kept for the server.
        private static let maximumUnreleased = 1000
        /// The most new releases that the subscription's thread sends before it listens again.
        private static let mostNew = 64
        /// The most calls for releases that have failed.
        private static let mostRetries = 4

        /// Tells the server of some leases that have ended. Forgets those that have expired.
        ///
        /// - Parameter isRetrying: whether to send some releases again that have failed.
        func releaseSome(isRetrying: Bool) -> Subscription.Work {
            let (now, most) = (time.now, server.maximumAtOnce)
            let groups = unreleased.withLock { unreleased in
                unreleased.removeAll { $0.expires <= now }
                let new = unreleased.filter { !$0.hasFailed }.prefix(Self.mostNew)
                let failed = isRetrying ? unreleased.filter(\.hasFailed).prefix(Self.mostRetries * most) : []
                return [new, failed].flatMap { leases in
                    stride(from: 0, to: leases.count, by: most).map { Array(leases.dropFirst($0).prefix(most)) }
                }
            }
            let hasReleased = groups.reduce(false) { release($1) || $0 }
            return unreleased.withLock { unreleased in
                if unreleased.isEmpty { return .done }
                return hasReleased || unreleased.contains { !$0.hasFailed } ? .isLeft : .failed
            }
        }

        /// Releases leases in one call. Returns whether the server has released any.
        private func release(_ leases: [EndedLease]) -> Bool {
            let commands = leases.map { ended in
                Command(
                    .release, keys: [keys.lease(ended.lease.key)],
                    arguments: [
                        .text(owner(ended.lease.token)), .text(keys.releases(ended.lease.key)),
                        .text(SharedLeaseWaits.message(ended.end)),
                    ])
            }
            let replies = try? server.run(commands)
            var again: [EndedLease] = []
            for (index, var ended) in leases.enumerated() {
                switch replies?[index] {
                case nil, .error: ended.hasFailed = true
                case .number(0) where ended.mayComeLater: ended.mayComeLater = false
                default: continue
                }
                again.append(ended)
            }
            let tokens = Set(leases.map(\.lease.token))
            unreleased.withLock { unreleased in
                unreleased.removeAll { tokens.contains($0.lease.token) }
                unreleased += again  // behind those that have failed before
            }
            return again.count < leases.count
        }
    }

    /// A lease that has ended, and the result for those who wait for it.
    struct EndedLease: Sendable {
        let lease: Lease
        let end: LeaseEnd
        /// When the server forgets the lease by itself.
        let expires: Date
        /// Whether the server may grant the lease only after its first release, because the call that asked for it has failed.
        /// Then the release is repeated once.
        var mayComeLater = false
        /// Whether the server could not be told, or has refused to write.
        var hasFailed = false
    }
#endif
