import Foundation
import HTTPCaching
import SynchronizerSupport

extension SQLiteURLCache: LeasingStore {
    package func lease(_ key: String, for duration: TimeInterval) -> LeaseAnswer {
        switch cache.lease(Checksum64.of(key), for: duration) {
        case .granted(let grant):
            .granted(Lease(key: key, token: grant.token, followsAnother: grant.followsAnother))
        case .held: .held
        case .unavailable: .unavailable
        }
    }

    package func release(_ lease: Lease) { cache.release(lease.grant) }
    package func abandon(_ lease: Lease) { cache.abandon(lease.grant) }

    /// Whether a process of this machine holds the lease.
    package func isLeaseHeld(_ key: String) -> Bool {
        cache.leases.look(at: Checksum64.of(key), now: cache.time.now.milliseconds).isHeld
    }

    /// Whether no later lease has been granted.
    package func isLatest(_ lease: Lease) -> Bool { cache.leases.isCurrent(lease.grant) }

    package func waitForRelease(
        of key: String, atMost limit: TimeInterval, then handler: @escaping @Sendable (LeaseEnd) -> Void
    ) -> @Sendable () -> Void {
        cache.watchLease(Checksum64.of(key), atMost: limit) { handler($0 ? .released : .vacant) }
    }

    package func store(_ response: StoredResponse, _ cached: CachedURLResponse, under lease: Lease) -> Int64? {
        guard cached.storagePolicy != .notAllowed, isLatest(lease) else { return nil }
        return cache.store(
            storedRecord(of: response, cached), cached: cached, keepsObject: false, fence: cache.fence(lease.grant))
    }

    package func update(_ entry: StoredEntry, to response: StoredResponse, under lease: Lease) {
        guard isLatest(lease) else { return }
        cache.update(entry.id, url: entry.response.url, to: response, fence: cache.fence(lease.grant))
    }
}

extension Lease {
    fileprivate var grant: LeaseFile.Grant {
        LeaseFile.Grant(key: Checksum64.of(key), token: token, followsAnother: followsAnother)
    }
}
