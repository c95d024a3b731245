#if Valkey && canImport(CHiredis)
    import Foundation
    import SynchronizerSupport

    /// A connection on which the server announces changes, with a thread of its own. If the connection is lost, the thread connects
    /// again. Each node of a cluster announces the changes of all nodes.
    final class Subscription: Sendable {
        /// The closures that the thread calls.
        struct Events: Sendable {
            /// The server announces changes from now on.
            let connected: @Sendable () -> Void
            let disconnected: @Sendable () -> Void
            let message: @Sendable (_ channel: String, _ text: String) -> Void
            /// The channels that are needed for a while. Wake the thread when they have changed.
            let channels: @Sendable () -> Set<String>
            /// Called about once a second while the server announces changes.
            let tick: @Sendable () -> Void
            /// Does some of the work that needs the server.
            let work: @Sendable (_ isRetrying: Bool) -> Work
        }

        /// The result of work. Of two results, the greater one counts.
        enum Work: Comparable {
            case done
            /// All attempts have failed. Try again later.
            case failed
            /// There is more to do now.
            case isLeft
        }

        private let server: SharedServer
        private let channel: String
        private let stops = Locked(false)
        /// A byte in this pipe wakes the thread.
        private let pipe: (read: Int32, write: Int32)

        /// Seconds that connecting, and each call on the connection, may take.
        private static let patience: TimeInterval = 1
        private static let firstPause = 0.02
        private static let longestPause = 0.5
        /// Seconds before work that has failed is tried again.
        private static let retryInterval = 0.05
        /// The fewest seconds between two ticks.
        private static let tickInterval = 1.0
        /// The most bytes of an announcement.
        private static let longestMessage = 1 << 20

        init(to channel: String, of server: SharedServer) {
            (self.server, self.channel) = (server, channel)
            var ends: [Int32] = [-1, -1]
            _ = Glibc.pipe(&ends)
            for end in ends {
                _ = fcntl(end, F_SETFD, FD_CLOEXEC)
                _ = fcntl(end, F_SETFL, O_NONBLOCK)
            }
            pipe = (ends[0], ends[1])
        }

        deinit {
            close(pipe.read)
            close(pipe.write)
        }

        func start(_ events: Events) {
            Thread.detachNewThread { [self] in run(events) }
        }

        func stop() {
            stops.withLock { $0 = true }
            wake()
        }

        /// Makes the thread do its work, and update its channels.
        func wake() {
            var byte: UInt8 = 0
            _ = write(pipe.write, &byte, 1)
        }

        private var isStopped: Bool { stops.withLock { $0 } }

        private func run(_ events: Events) {
            var pause = Self.firstPause
            while !isStopped {
                do throws(LinkFailure) {
                    try follow(events) { pause = Self.firstPause }
                } catch {
                    events.disconnected()
                    if !isStopped, !server.refusesAnnouncements { server.didFail(error) }
                }
                let end = Deadline(after: pause)
                while !isStopped, end.millisecondsLeft > 0 { _ = waits(for: [], atMost: end.millisecondsLeft) }
                if !isStopped { _ = events.work(true) }
                pause = min(2 * pause, Self.longestPause)
            }
            events.disconnected()
        }

        /// Connects, and follows the announcements. Returns when the subscription was stopped.
        private func follow(_ events: Events, didConnect: () -> Void) throws(LinkFailure) {
            // No key has the name of the channel, but the user may look for it.
            let connection = try server.connect(within: Self.patience, lookingFor: channel)
            let subscribe = Command(["SUBSCRIBE", channel])
            for reply in try connection.call([subscribe], until: Deadline(after: Self.patience)) {
                try check(reply)
                guard reply.isConfirmation(of: channel) else { throw .malformed("it does not confirm a subscription") }
            }
            server.announcementsAre(refused: nil)
            server.didAnswer(at: connection.endpoint)
            events.connected()
            didConnect()
            var listening: Set<String> = []
            var silence = SilenceWatch(at: SharedServer.now)
            var unread = 0
            var (nextTick, nextRetry) = (SharedServer.now + Self.tickInterval, 0.0)
            while !isStopped {
                try listen(to: events.channels(), insteadOf: &listening, on: connection)
                while let reply = try connection.next() {
                    try check(reply)
                    pass(reply, to: events)
                    unread = 0
                }
                if SharedServer.now >= nextTick {
                    try server.checkCluster(at: connection.endpoint, lookingFor: channel)
                    events.tick()
                    nextTick = SharedServer.now + Self.tickInterval
                }
                let pause = pause(afterWorkOf: events, nextRetry: &nextRetry, until: silence)
                if waits(for: [connection.descriptor], atMost: pause) {
                    unread += try connection.read()
                    guard unread <= Self.longestMessage else { throw .malformed("it is too long") }
                    if silence.isAsked { server.didAnswer(at: connection.endpoint) }
                    silence.noteBytes(at: SharedServer.now)
                } else {
                    try noteSilence(&silence, on: connection)
                }
            }
        }

        private func check(_ reply: Reply) throws(LinkFailure) {
            guard case .error(let error) = reply else { return }
            let why = Connection.text(of: error)
            server.announcementsAre(refused: why)
            throw .server(why)
        }

        /// Pings a silent server, or gives it up. Call it whenever no bytes have arrived, even if a call has woken the thread: such
        /// calls must not hide that the server is silent.
        private func noteSilence(_ silence: inout SilenceWatch, on connection: Connection) throws(LinkFailure) {
            switch silence.step(at: SharedServer.now) {
            case .wait: break
            case .ask: try connection.send([Command(["PING"])], until: Deadline(after: Self.patience))
            case .giveUp: throw .timedOut
            }
        }

        /// Does some work. Returns the longest time to wait for an announcement after that, in milliseconds.
        private func pause(afterWorkOf events: Events, nextRetry: inout Double, until silence: SilenceWatch) -> Int32 {
            let isRetrying = SharedServer.now >= nextRetry
            let work = events.work(isRetrying)
            let now = SharedServer.now
            // However often the thread is woken, work that has failed is not tried again sooner.
            if isRetrying, work == .failed { nextRetry = now + Self.retryInterval }
            // The silence watch is due at least once a second, so ticks need no limit of their own.
            var seconds = silence.left(at: now)
            if work == .failed { seconds = min(seconds, max(0, nextRetry - now)) }
            return work == .isLeft ? 0 : Int32(1 + 1000 * seconds)
        }

        private func listen(
            to wanted: Set<String>, insteadOf listening: inout Set<String>, on connection: Connection
        ) throws(LinkFailure) {
            guard wanted != listening else { return }
            let (new, old) = (wanted.subtracting(listening), listening.subtracting(wanted))
            var commands: [Command] = []
            if !new.isEmpty { commands.append(Command(["SUBSCRIBE"] + new)) }
            if !old.isEmpty { commands.append(Command(["UNSUBSCRIBE"] + old)) }
            try connection.send(commands, until: Deadline(after: Self.patience))
            listening = wanted
        }

        private func pass(_ reply: Reply, to events: Events) {
            guard let parts = reply.array, parts.count == 3, let channel = parts[1].text else { return }
            switch parts[0].text {
            case "message": events.message(channel, parts[2].text ?? "")
            // From now on, releases are announced. An earlier release may have been missed.
            case "subscribe" where channel != self.channel: events.message(channel, "")
            default: break
            }
        }

        /// Waits for bytes. Returns whether there are any; otherwise the time has passed, or the thread was woken.
        private func waits(for descriptors: [Int32], atMost milliseconds: Int32) -> Bool {
            var entries = ([pipe.read] + descriptors).map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
            guard poll(&entries, nfds_t(entries.count), milliseconds) > 0 else { return false }
            if entries[0].revents != 0 {
                var bytes = [UInt8](repeating: 0, count: 256)
                _ = Glibc.read(pipe.read, &bytes, bytes.count)
            }
            return entries.dropFirst().contains { $0.revents != 0 }
        }
    }

    extension Reply {
        fileprivate func isConfirmation(of channel: String) -> Bool {
            array.map { $0.count == 3 && $0[0].text == "subscribe" && $0[1].text == channel } ?? false
        }
    }
#endif
