#if Valkey && canImport(CHiredis)
    import Foundation
    import SQLiteCache
    import SynchronizerSupport

    /// Runs commands on a server, or on the nodes of its cluster, within a bounded time.
    ///
    /// Each call borrows an idle connection, and sends its commands together. After several failures in a row, calls fail for a
    /// while without asking the server, and one line is logged.
    final class SharedServer: Sendable {
        struct State {
            var idle: [Connection.Endpoint: [Connection]] = [:]
            /// The server's address, from the name service.
            var endpoint: Connection.Endpoint?
            /// The nodes of the cluster, each of which has its own breaker.
            var nodes = NodeTable<Connection.Endpoint>()
            var breaker = CircuitBreaker()
            var failures = 0
            /// Whether a log line has reported that a command has failed because of its key, or for lack of a permission.
            var refusesCommands = false
            /// Why the server refuses to announce changes; nil if it does not refuse.
            var refusal: String?
            /// Reports of such refusals.
            var refusals = OutageLog()
        }

        let address: ServerAddress
        /// Seconds that a call may take.
        let limit: TimeInterval
        private let isReadOnly: Bool
        let report: @Sendable (String) -> Void
        let state = Locked(State())
        private let resolution = DispatchGroup()
        private let maximumIdle = 32
        /// The most calls at once, and so the most connections. Without this limit, a program that calls the cache on many threads
        /// could use up those of the server.
        static let mostConnections = 64
        private let free = DispatchSemaphore(value: mostConnections)

        /// - Parameter isReadOnly: whether to leave the values that the cache can't have stored.
        init(
            _ address: ServerAddress, limit: TimeInterval, isReadOnly: Bool = false,
            report: @escaping @Sendable (String) -> Void
        ) {
            (self.address, self.limit, self.isReadOnly, self.report) = (address, limit, isReadOnly, report)
            resolution.enter()
            if case .socket(let path) = address.place { didResolve(.socket(path)) }
        }

        /// The number of calls that failed.
        var failures: Int { state.withLock { $0.failures } }
        var isPausing: Bool {
            state.withLock { state in
                let nodesFail = state.endpoint.map(state.nodes.isPausing) ?? false
                return !state.breaker.isClosed || nodesFail || state.refusal != nil
            }
        }
        var refusesAnnouncements: Bool { state.withLock { $0.refusal != nil } }
        /// Whether the server is known to be a cluster, in which keys belong to different nodes.
        var isCluster: Bool { state.withLock { $0.nodes.isCluster } }
        /// The most commands with different keys in one call. In a cluster, such commands are sent one after the other.
        var maximumAtOnce: Int { isCluster ? 1 : 64 }

        /// Runs commands, and returns their replies, none of which is a redirection. Throws if the server cannot be used now.
        func run(_ commands: [Command], within seconds: TimeInterval? = nil) throws(LinkFailure) -> [Reply] {
            let isAllowed = state.withLock { $0.refusal == nil && $0.breaker.allows(at: Self.now) }
            guard !ForkedProcess.isCurrent, isAllowed else { throw .pausing }
            let deadline = Deadline(after: seconds ?? limit)
            let replies: [Reply]
            do throws(LinkFailure) {
                replies = try attempt(commands, until: deadline)
                for case .error(.other(let text)) in replies { throw .server(text) }
                state.withLock { $0.breaker.succeed() }
            } catch {
                if case .unreadable(let keys, let why) = error, isReadOnly || remove(keys) {
                    noteRefusal(why)
                } else {
                    didFail(error)
                }
                throw error
            }
            for index in replies.indices {
                guard case .error(let error) = replies[index], case .refusesKey(let why) = error else { continue }
                noteRefusal(why)
                guard error.isWrongType else { throw .server(why) }
                if !isReadOnly { _ = remove(commands[index].keys) }
                throw .unreadable(commands[index].keys, why)
            }
            return replies
        }

        /// Removes keys whose values this cache can't have stored. Otherwise, the next command with these keys would fail, too.
        ///
        /// - Returns: whether the server has removed them. Then it can be used for other keys.
        private func remove(_ keys: [String]) -> Bool {
            guard !keys.isEmpty else { return false }
            let replies = try? attempt([Command(["UNLINK"] + keys, keys: keys)], until: Deadline(after: limit))
            return replies?.first?.number != nil
        }

        /// Counts the refusal of a command, and logs the first one. Other commands can still be used.
        private func noteRefusal(_ why: String) {
            let isKnown = state.withLock { state in
                defer { state.refusesCommands = true }
                state.failures += 1
                return state.refusesCommands
            }
            if !isKnown { report("the shared cache at \(address.name) fails to run a command: \(why)") }
        }

        /// Notes whether the server refuses to announce changes. As long as it does, no call uses it, because no machine would
        /// learn what the others remove. A refusal is logged once, and at most one a minute: a server may announce changes, and
        /// refuse only the channels of leases, so that it is connected between the refusals.
        func announcementsAre(refused why: String?) {
            let logs = state.withLock { state in
                state.refusal = why
                if why == nil { state.refusals.end() }
                return why != nil && state.refusals.note(at: Self.now)
            }
            if logs, let why {
                report("the shared cache at \(address.name) is not used: it announces no changes: \(why)")
            }
        }

        /// Notes that the server has answered on a connection that is not for calls.
        func didAnswer(at endpoint: Connection.Endpoint) {
            state.withLock { state in
                state.breaker.noteAnswer(at: Self.now)
                state.nodes.noteAnswer(endpoint, at: Self.now)
            }
        }

        /// Counts a failure. If a node of a cluster can't be reached, only its own breaker opens: the others can still be used.
        func didFail(_ failure: LinkFailure) {
            let logs = state.withLock { state in
                if failure != .pausing { state.failures += 1 }
                // The calls that use the connections count themselves.
                if failure == .busy { return false }
                return failure.isOfNode && state.nodes.isCluster ? false : state.breaker.fail(at: Self.now)
            }
            if logs { report("the shared cache at \(address.name) is not used: \(failure)") }
        }

        static var now: Double { Double(DispatchTime.now().uptimeNanoseconds) / 1e9 }

        // MARK: - Addresses

        /// Notes the address for calls.
        func didResolve(_ endpoint: Connection.Endpoint) {
            let old = state.withLock { state in
                defer { state.endpoint = endpoint }
                return state.endpoint
            }
            guard let old else { return resolution.leave() }
            if old != endpoint { closeIdle(at: old) }  // no call would take them
        }

        func endpoint(until deadline: Deadline) throws(LinkFailure) -> Connection.Endpoint {
            if let endpoint = state.withLock({ $0.endpoint }) { return endpoint }
            _ = resolution.wait(timeout: .now() + .milliseconds(Int(deadline.millisecondsLeft)))
            guard let endpoint = state.withLock({ $0.endpoint }) else { throw .refused("no address") }
            return endpoint
        }

        // MARK: - Connections

        func call(
            _ commands: [Command], at endpoint: Connection.Endpoint, until deadline: Deadline
        ) throws(LinkFailure) -> [Reply] {
            guard free.wait(timeout: .now() + .milliseconds(Int(deadline.millisecondsLeft))) == .success else {
                throw .busy
            }
            defer { free.signal() }
            var isRepeated = false
            while true {
                let idle = idle(endpoint)
                let connection: Connection
                do throws(LinkFailure) {
                    connection = if let idle { idle } else { try connect(to: endpoint, until: deadline) }
                } catch {
                    // The server may have run the commands before it closed the connection.
                    throw isRepeated ? .closed : error
                }
                do throws(LinkFailure) {
                    let replies = try connection.call(commands, until: deadline)
                    guard replies.contains(.error(.noScript)) else {
                        giveBack(connection)
                        return replies
                    }
                    // The server has forgotten the scripts. Each new connection loads them.
                    if idle == nil { return replies }
                } catch {
                    // While the connection was idle, the server or a proxy may have closed it, and then the other idle ones, too.
                    if idle != nil { closeIdle(at: endpoint) }
                    if error != .closed || idle == nil { throw error }
                    isRepeated = true
                }
            }
        }

        /// Opens a connection that is ready for commands.
        func connect(to endpoint: Connection.Endpoint, until deadline: Deadline) throws(LinkFailure) -> Connection {
            let connection = try Connection(to: endpoint, until: deadline)
            try connection.prepare(for: address, until: deadline)
            return connection
        }

        /// An idle connection that the server has neither closed nor sent any surplus replies on.
        private func idle(_ endpoint: Connection.Endpoint) -> Connection? {
            while let connection = state.withLock({ $0.idle[endpoint]?.popLast() }) {
                if connection.isSilent { return connection }
            }
            return nil
        }

        private func closeIdle(at endpoint: Connection.Endpoint) {
            _ = state.withLock { $0.idle.removeValue(forKey: endpoint) }
        }

        private func giveBack(_ connection: Connection) {
            state.withLock { state in
                guard state.idle[connection.endpoint, default: []].count < maximumIdle else { return }
                connection.lastUse = Self.now
                state.idle[connection.endpoint, default: []].append(connection)
            }
        }

        /// Closes the connections that no call has used for some time, for example those to nodes that have left the cluster.
        func closeUnused(for seconds: Double = 60) {
            let limit = Self.now - seconds
            let unused = state.withLock { state in
                let unused = state.idle.mapValues { $0.prefix { $0.lastUse < limit } }
                for (endpoint, connections) in unused { state.idle[endpoint]?.removeFirst(connections.count) }
                state.idle = state.idle.filter { !$0.value.isEmpty }
                return unused
            }
            withExtendedLifetime(unused) {}  // they close without the lock
        }

        /// Closes the idle connections.
        func close() {
            _ = state.withLock { state in
                defer { state.idle = [:] }
                return state.idle
            }
        }
    }
#endif
