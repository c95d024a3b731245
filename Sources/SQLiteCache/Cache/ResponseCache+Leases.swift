import Foundation
import HTTPCaching
import SynchronizerSupport

// Leases: of all processes that need a response, one asks the network. `LeaseFile` has the leases.
extension ResponseCache {
    /// Grants no lease where other processes would not find the response that is stored under it.
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

    /// Gives a lease back as if its holder had died, in the background: cancelling a load waits for no file.
    func abandon(_ grant: LeaseFile.Grant) {
        guard !ForkedProcess.isCurrent else { return }
        writer.queue.async { [leases] in leases.abandon(grant) }
    }

    /// The fence of a response that is to be stored; nil if it comes too late: another process has removed the entries of its
    /// URL, or stored a response that was requested later.
    func fence(for response: StoredResponse) -> Fence? {
        guard !ForkedProcess.isCurrent else { return nil }
        let (urlKey, variant) = (Checksum64.of(response.url), response.variantKey)
        let fence = Fence(requested: response.requestTime, time: time) { [leases, time] in
            leases.isRemoved(urlKey, since: response.requestTime, now: time.now)
        }
        if fence.isRemoved() { return nil }
        let isReplaced = rows(of: response.url).contains { $0.variant == variant && fence.yields(to: $0.record) }
        return isReplaced ? nil : fence
    }

    /// Calls the handler once the lease is not held any more, and says whether it was released. Returns a closure that
    /// cancels the watch.
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

    /// Lets the next lookup ask the database whether another process has changed it.
    private func distrustMemory() {
        state.withLock { $0.verifiedAt = .distantPast }
    }
}
