import Foundation
import HTTPCaching
import SynchronizerSupport

// Leases: of all processes that need a response, one asks the network. `LeaseFile` has the leases.
extension ResponseCache {
    /// Asks for a lease. It is unavailable while the disk takes no stores: other processes would not find the response that is
    /// stored under the lease.
    func lease(_ key: UInt64, for duration: TimeInterval) -> LeaseFile.Answer {
        guard !ForkedProcess.isCurrent,
            state.withLock({ $0.diskCapacity > 0 && !$0.storesFail && !$0.disk.hasFailed })
        else { return .unavailable }
        let answer = leases.grant(
            key, at: time.now.milliseconds, for: Int64(min(max(0, duration), 3600) * 1000))
        if case .granted(let grant) = answer, grant.followsAnother { distrustMemory() }
        return answer
    }

    /// Releases a lease once the database has the entries that were stored under it.
    func release(_ grant: LeaseFile.Grant) {
        guard !ForkedProcess.isCurrent else { return }
        let release: @Sendable () -> Void = { [leases, time] in leases.release(grant, at: time.now.milliseconds) }
        if state.withLock({ $0.log.isEmpty }) { release() } else { writer.write(from: self, then: release) }
    }

    /// Gives a lease back as if its holder had died. Does so in the background, because cancelling a load must not wait for a file.
    func abandon(_ grant: LeaseFile.Grant) {
        guard !ForkedProcess.isCurrent else { return }
        writer.queue.async { [leases] in leases.abandon(grant) }
    }

    /// The fence of a response that is to be stored; nil if the response comes too late: the fence refuses it, or a response of
    /// the same variant that was requested later is stored.
    func fence(for response: StoredResponse) -> LateResponseFence? {
        guard !ForkedProcess.isCurrent else { return nil }
        let (urlKey, variant) = (Checksum64.of(response.url), response.variantKey)
        let fence = LateResponseFence(requested: response.requestTime, time: time) { [leases, time] in
            leases.isRemoved(urlKey, since: response.requestTime, now: time.now)
        }
        if fence.isRemoved() { return nil }
        let isReplaced = rows(of: response.url).contains { $0.variant == variant && fence.yields(to: $0.record) }
        return isReplaced ? nil : fence
    }

    /// Calls the handler when the lease is no longer held, or `limit` seconds have passed, and tells it whether the lease was
    /// released. Returns a closure that cancels the watch.
    func watchLease(
        _ key: UInt64, atMost limit: TimeInterval, then handler: @escaping @Sendable (_ isReleased: Bool) -> Void
    ) -> @Sendable () -> Void {
        guard !ForkedProcess.isCurrent else { return {} }
        let watch = LeaseWatch(key, in: leases, time: time, limit: limit) { [weak self] isReleased in
            self?.distrustMemory()
            handler(isReleased)
        }
        watch.begin()
        return { watch.cancel() }
    }

    /// Makes the next lookup ask the database whether another process has changed it.
    private func distrustMemory() {
        state.withLock { $0.verifiedAt = .distantPast }
    }
}
