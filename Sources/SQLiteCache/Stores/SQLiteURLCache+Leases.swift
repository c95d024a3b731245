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
        guard !ForkedProcess.isCurrent else { return false }
        return cache.leases.look(at: Checksum64.of(key), now: cache.time.now.milliseconds).isHeld
    }

    package func waitForRelease(
        of key: String, atMost limit: TimeInterval, then handler: @escaping @Sendable (LeaseEnd) -> Void
    ) -> @Sendable () -> Void {
        cache.watchLease(Checksum64.of(key), atMost: limit) { handler($0 ? .released : .vacant) }
    }
}

extension Lease {
    fileprivate var grant: LeaseFile.Grant {
        LeaseFile.Grant(key: Checksum64.of(key), token: token, followsAnother: followsAnother)
    }
}
