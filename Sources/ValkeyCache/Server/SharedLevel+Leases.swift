#if Valkey && canImport(CHiredis)
    import Foundation
    import SQLiteCache
    import SynchronizerSupport

    extension SharedLevel {
        /// Milliseconds for which the server remembers the token of the last lease.
        private static let tokenMemory = 86_400_000

        func lease(_ key: String, for duration: TimeInterval) -> LeaseAnswer {
            guard mayWait else { return .unavailable }
            let milliseconds = Int(1000 * max(0.001, min(duration, 86_400)))
            let command = Command(
                .lease, keys: [keys.lease(key), keys.token(key)],
                [.text("\(milliseconds)"), .text("\(Self.tokenMemory)")])
            switch try? server.run([command])[0] {
            case .data(let token)?:
                guard let token = UInt64(String(decoding: token, as: UTF8.self)) else { return .unavailable }
                return .granted(Lease(key: key, token: token))
            case .number(_)?: return .held
            default: return .unavailable
            }
        }

        func release(_ lease: Lease) {
            let command = Command(
                .release, keys: [keys.lease(lease.key)], [.text("\(lease.token)"), .text(keys.releases(lease.key))])
            if mayWait {
                _ = try? server.run([command])
            } else if !ForkedProcess.isCurrent {
                queue.async { [self] in _ = try? server.run([command]) }
            }
        }

        /// Whether no later lease has been granted.
        func isLatest(_ lease: Lease) throws(LinkFailure) -> Bool {
            let key = keys.token(lease.key)
            return try server.run([Command(["GET", key], key: key)])[0].text == "\(lease.token)"
        }

        func waitForRelease(
            of key: String, atMost limit: TimeInterval, then handler: @escaping @Sendable (LeaseEnd) -> Void
        ) -> @Sendable () -> Void {
            let channel = keys.releases(key)
            let wait = LeaseWait(handler)
            // The table of waits holds the closure until the wait is over.
            let isFirst = waits.add(wait, to: channel) { [weak self] in self?.checkSoon(key, wait, limit) }
            if isFirst { subscription.listen(to: channel) }
            wait.limit(by: time.schedule(after: limit) { wait.end() })
            wait.onEnd { [weak self] in
                guard let self, waits.remove(wait, from: channel) else { return }
                subscription.stopListening(to: channel)
            }
            checkSoon(key, wait, limit)
            return { wait.cancel() }
        }

        private func checkSoon(_ key: String, _ wait: LeaseWait, _ limit: TimeInterval) {
            queue.async { [self] in check(key, wait, limit) }
        }

        /// Ends a wait whose lease is free, and comes back when it will have expired.
        private func check(_ key: String, _ wait: LeaseWait, _ limit: TimeInterval) {
            guard !wait.isOver else { return }
            let lease = keys.lease(key)
            guard case .number(let left)? = try? server.run([Command(["PTTL", lease], key: lease)])[0] else {
                return recheck(key, wait, limit, after: 0.05)
            }
            if left <= 0 { return wait.end() }
            recheck(key, wait, limit, after: Double(left) / 1000 + 0.001)
        }

        private func recheck(_ key: String, _ wait: LeaseWait, _ limit: TimeInterval, after delay: TimeInterval) {
            guard delay < limit else { return }  // the limit ends it
            wait.limit(
                by: time.schedule(after: delay) { [weak self] in self?.checkSoon(key, wait, limit) })
        }
    }

    /// A load that waits until another one releases its lease. It ends once.
    final class LeaseWait: Sendable {
        private struct State {
            var handler: (@Sendable (LeaseEnd) -> Void)?
            /// How it will end: a release is announced, and the end of a lease is not.
            var end = LeaseEnd.vacant
            var cancels: [@Sendable () -> Void] = []
            var isOver = false
        }

        private let state: Locked<State>

        init(_ handler: @escaping @Sendable (LeaseEnd) -> Void) { state = Locked(State(handler: handler)) }

        var isOver: Bool { state.withLock { $0.isOver } }

        /// Adds what is to be called when the wait is over.
        func onEnd(_ cancel: @escaping @Sendable () -> Void) { limit(by: cancel) }

        func limit(by cancel: @escaping @Sendable () -> Void) {
            let isOver = state.withLock { state in
                if !state.isOver { state.cancels.append(cancel) }
                return state.isOver
            }
            if isOver { cancel() }
        }

        func wasReleased() { state.withLock { $0.end = .released } }

        func end() {
            let old = finish()
            old.handler?(old.end)
        }

        func cancel() { _ = finish() }

        private func finish() -> State {
            let old = state.withLock { state in
                defer { state = State(handler: nil, isOver: true) }
                return state
            }
            for cancel in old.cancels { cancel() }
            return old
        }
    }

    /// The waits of a process, by the channel on which the release is announced.
    final class LeaseWaits: Sendable {
        private struct Entry {
            let wait: LeaseWait
            let check: @Sendable () -> Void
        }

        private let entries = Locked<[String: [Entry]]>([:])

        /// Returns whether it is the first one of the channel.
        ///
        /// - Parameter check: looks whether the lease is free.
        func add(_ wait: LeaseWait, to channel: String, check: @escaping @Sendable () -> Void) -> Bool {
            entries.withLock { entries in
                entries[channel, default: []].append(Entry(wait: wait, check: check))
                return entries[channel]?.count == 1
            }
        }

        /// Returns whether it was the last one of the channel.
        func remove(_ wait: LeaseWait, from channel: String) -> Bool {
            entries.withLock { entries in
                guard var waits = entries[channel] else { return false }
                waits.removeAll { $0.wait === wait }
                entries[channel] = waits.isEmpty ? nil : waits
                return waits.isEmpty
            }
        }

        /// The lease of a channel may be free.
        func announce(_ channel: String) {
            let found = entries.withLock { $0[channel] ?? [] }
            for entry in found {
                entry.wait.wasReleased()
                entry.check()
            }
        }

        /// Announcements may have been missed.
        func checkAll() {
            let all = entries.withLock { $0.values.flatMap { $0 } }
            for entry in all { entry.check() }
        }
    }
#endif
