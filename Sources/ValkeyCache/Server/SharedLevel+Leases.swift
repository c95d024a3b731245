#if Valkey && canImport(CHiredis)
    import Foundation
    import SQLiteCache
    import SynchronizerSupport

    extension SharedLevel {
        /// The most seconds between the lookup of a load and the grant of its lease.
        private static let lookupAge: TimeInterval = 10

        func lease(_ key: String, for duration: TimeInterval) -> LeaseAnswer {
            guard mayWait else { return .unavailable }
            let token = UInt64.random(in: 1 ... .max)
            let milliseconds = Int(1000 * max(0.001, min(duration, 86_400)))
            let command = Command(
                .lease, keys: [keys.lease(key), keys.recent(key)],
                arguments: [
                    .text(owner(token)), .text("\(milliseconds)"),
                    .text("\(milliseconds + Int(1000 * Self.lookupAge))"),
                ])
            do throws(LinkFailure) {
                switch try server.run([command])[0] {
                case .number(0): return .held
                case .number(-1): return .unavailable
                case .array(let grant):
                    guard let lease = noteGrant(grant, of: key, token: token, for: duration) else {
                        return localLease(key, for: duration)
                    }
                    return .granted(lease)
                default: return localLease(key, for: duration)
                }
            } catch {
                if !error.isBeforeCommands {
                    // The server may have granted the lease.
                    let end = EndedLease(
                        lease: Lease(key: key, token: token), end: .vacant, expires: time.now + duration,
                        mayComeLater: true)
                    releaseLater(end)
                }
                return localLease(key, for: duration)
            }
        }

        /// - Parameter grant: 1, or 2 if the lease follows another one; and the lease's number.
        private func noteGrant(
            _ grant: [Reply], of key: String, token: UInt64, for duration: TimeInterval
        ) -> Lease? {
            guard grant.count == 2, let answer = grant[0].number, (1...2).contains(answer),
                let number = grant[1].text.flatMap({ UInt64($0, radix: 16) })
            else { return nil }
            if answer == 2 { forgetCopies(key) }
            let now = time.now
            leaseNumbers.withLock {
                $0.add(number, token: token, url: Self.urlKey(of: key), at: now, until: now + duration)
            }
            return Lease(key: key, token: token, followsAnother: answer == 2)
        }

        /// The digest of the URL of a lease.
        static func urlKey(of key: String) -> UInt64 { URLDigest.key(String(key.prefix { $0 != "\n" })) }

        /// The name by which the server knows the holder of a lease.
        func owner(_ token: UInt64) -> String { name + token.hexadecimal }

        /// Takes a lease that holds only on this machine. So while the server cannot be asked, one process of each machine requests
        /// a response.
        private func localLease(_ key: String, for duration: TimeInterval) -> LeaseAnswer {
            let answer = local.lease(key, for: duration)
            guard case .granted(var lease) = answer else { return answer }
            lease.isLocal = true
            return .granted(lease)
        }

        // MARK: - Waiting

        /// Makes the next lookup ask the server, because a change may not have been announced yet.
        private func forgetCopies(_ key: String) {
            coherence.withLock { $0.forget(Self.urlKey(of: key)) }
        }

        func waitForRelease(
            of key: String, atMost limit: TimeInterval, then handler: @escaping @Sendable (LeaseEnd) -> Void
        ) -> @Sendable () -> Void {
            if local.isLeaseHeld(key) { return local.waitForRelease(of: key, atMost: limit, then: handler) }
            let channel = keys.releases(key)
            let wait = SharedLeaseWait { [weak self] end in
                self?.forgetCopies(key)
                handler(end)
            }
            let check = LeaseCheck(key: key, wait: wait, limit: limit)
            // The table of waits holds the closure until the wait is over.
            let isFirst = waits.add(wait, to: channel) { [weak self] in self?.checkSoon(check) }
            if isFirst { subscription.wake() }
            wait.onEnd(time.schedule(after: limit) { wait.end(.vacant) })
            wait.onEnd { [weak self] in
                if let self, waits.remove(wait, from: channel) { subscription.wake() }
            }
            checkSoon(check)
            return { wait.cancel() }
        }

        private func checkSoon(_ check: LeaseCheck) {
            let isFirst = unchecked.withLock { unchecked in
                unchecked.append(check)
                return unchecked.count == 1
            }
            if isFirst { queue.async { [self] in checkAll() } }
        }

        private func checkAll() {
            dispatchPrecondition(condition: .onQueue(queue))
            var checks = unchecked.withLock { unchecked in
                defer { unchecked = [] }
                return unchecked.filter { !$0.wait.isOver }
            }[...]
            while !checks.isEmpty {
                let some = checks.prefix(server.maximumAtOnce)
                checks = checks.dropFirst(some.count)
                let commands = some.map { Command(["PTTL", keys.lease($0.key)], key: keys.lease($0.key)) }
                let replies = (try? server.run(commands)) ?? []
                for (index, check) in some.enumerated() {
                    finish(check, left: index < replies.count ? replies[index].number ?? 0 : 0)
                }
            }
        }

        /// Ends a wait whose lease is free or unknown. Otherwise, checks the lease again when it has expired.
        ///
        /// - Parameter left: milliseconds until the lease expires; 0 or less if it is free.
        private func finish(_ check: LeaseCheck, left: Int) {
            guard left > 0 else { return check.wait.end(.vacant) }
            let delay = Double(left) / 1000 + 0.001
            guard delay < check.limit else { return }  // the limit ends the wait earlier
            check.wait.onEnd(time.schedule(after: delay) { [weak self] in self?.checkSoon(check) })
        }
    }

    /// A wait, and the lease about which to ask the server whether it is free.
    struct LeaseCheck: Sendable {
        let key: String
        let wait: SharedLeaseWait
        let limit: TimeInterval
    }

    /// A load that waits until another one releases its lease. It ends once.
    final class SharedLeaseWait: Sendable {
        private struct Closures {
            let handler: @Sendable (LeaseEnd) -> Void
            var cancels: [@Sendable () -> Void] = []
        }

        /// Nil once the wait is over.
        private let closures: Locked<Closures?>

        init(_ handler: @escaping @Sendable (LeaseEnd) -> Void) { closures = Locked(Closures(handler: handler)) }

        var isOver: Bool { closures.withLock { $0 == nil } }

        /// Adds a closure that is called when the wait is over.
        func onEnd(_ cancel: @escaping @Sendable () -> Void) {
            let isOver = closures.withLock { closures in
                closures?.cancels.append(cancel)
                return closures == nil
            }
            if isOver { cancel() }
        }

        /// Ends the wait. The handler runs on a global queue, because it may call an observer of the program, and the observer may
        /// wait for the queue of the caller.
        func end(_ end: LeaseEnd) {
            guard let handler = finish() else { return }
            DispatchQueue.global(qos: .userInitiated).async { handler(end) }
        }

        func cancel() { _ = finish() }

        /// Ends the wait; returns the handler, unless the wait was over.
        private func finish() -> (@Sendable (LeaseEnd) -> Void)? {
            let last = closures.withLock { $0.take() }
            for cancel in last?.cancels ?? [] { cancel() }
            return last?.handler
        }
    }

    /// The waits of a process, by the channel on which the release is announced.
    final class SharedLeaseWaits: Sendable {
        private struct Entry {
            let wait: SharedLeaseWait
            let check: @Sendable () -> Void
        }

        private let entries = Locked<[String: [Entry]]>([:])

        /// The channels whose announcements a wait needs.
        var channels: Set<String> { entries.withLock { Set($0.keys) } }

        /// Returns whether the wait is the first one of the channel.
        ///
        /// - Parameter check: checks whether the lease is free.
        func add(_ wait: SharedLeaseWait, to channel: String, check: @escaping @Sendable () -> Void) -> Bool {
            entries.withLock { entries in
                entries[channel, default: []].append(Entry(wait: wait, check: check))
                return entries[channel]?.count == 1
            }
        }

        /// Returns whether the wait was the last one of the channel.
        func remove(_ wait: SharedLeaseWait, from channel: String) -> Bool {
            entries.withLock { entries in
                guard var waits = entries[channel] else { return false }
                waits.removeAll { $0.wait === wait }
                entries[channel] = waits.isEmpty ? nil : waits
                return waits.isEmpty
            }
        }

        /// The text that is announced on the channel when a lease has ended.
        static func message(_ end: LeaseEnd) -> String { end == .released ? "released" : "vacant" }

        /// Ends the waits of a channel, because its lease has ended. An empty text means instead that the server announces ends
        /// from now on. Then the leases are checked, because an earlier end may have been missed.
        func announce(_ text: String, on channel: String) {
            let found = entries.withLock { $0[channel] ?? [] }
            for entry in found {
                if text.isEmpty {
                    entry.check()
                } else {
                    entry.wait.end(text == Self.message(.released) ? .released : .vacant)
                }
            }
        }

        /// Checks the leases of all waits, because announcements may have been missed.
        func checkAll() {
            let all = entries.withLock { $0.values.flatMap { $0 } }
            for entry in all { entry.check() }
        }
    }
#endif
