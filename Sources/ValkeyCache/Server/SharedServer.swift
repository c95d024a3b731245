#if Valkey && canImport(CHiredis)
    import Foundation
    import SQLiteCache
    import SynchronizerSupport

    /// Runs commands on a server, or on the nodes of its cluster, within a bounded time.
    ///
    /// Each call borrows an idle connection, and sends its commands together. After several failures in a row, calls fail for a
    /// while without asking the server, and one line is logged.
    final class SharedServer: Sendable {
        private struct State {
            var idle: [Connection.Endpoint: [Connection]] = [:]
            /// The server's address, from the name service.
            var endpoint: Connection.Endpoint?
            /// The cluster nodes that are known from redirections, by slot.
            var nodes: [Int: Connection.Endpoint] = [:]
            var breaker = CircuitBreaker()
            var failures = 0
            /// Whether a log line has reported that the server refuses a key.
            var refusesKeys = false
            /// Why the server refuses to announce changes; nil if it does not refuse.
            var refusal: String?
        }

        let address: ServerAddress
        /// Seconds that a call may take.
        let limit: TimeInterval
        private let isReadOnly: Bool
        private let report: @Sendable (String) -> Void
        private let state = Locked(State())
        private let resolution = DispatchGroup()
        private let maximumIdle = 32
        /// Limits the open connections. Without it, a program that calls the cache on many threads could use up those of the
        /// server.
        private let free = DispatchSemaphore(value: 64)

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
        var isPausing: Bool { state.withLock { !$0.breaker.isClosed || $0.refusal != nil } }
        var refusesAnnouncements: Bool { state.withLock { $0.refusal != nil } }
        /// Whether the server is known to be a cluster, in which keys belong to different nodes.
        var isCluster: Bool { state.withLock { !$0.nodes.isEmpty } }
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

        /// Counts the refusal of a key, and logs the first one. Other keys can still be used.
        private func noteRefusal(_ why: String) {
            let isKnown = state.withLock { state in
                defer { state.refusesKeys = true }
                state.failures += 1
                return state.refusesKeys
            }
            if !isKnown { report("the shared cache at \(address.name) refuses a key: \(why)") }
        }

        /// Notes whether the server refuses to announce changes. As long as it does, no call uses it, because no machine would
        /// learn what the others remove. The first refusal is logged.
        func announcementsAre(refused why: String?) {
            let isNew = state.withLock { state in
                defer { state.refusal = why }
                return state.refusal == nil && why != nil
            }
            if isNew, let why {
                report("the shared cache at \(address.name) is not used: it announces no changes: \(why)")
            }
        }

        /// Notes that the server has answered on a connection that is not for calls.
        func didAnswer() {
            state.withLock { $0.breaker.noteAnswer(at: Self.now) }
        }

        func didFail(_ failure: LinkFailure) {
            let logs = state.withLock { state in
                state.failures += 1
                return state.breaker.fail(at: Self.now)
            }
            if logs { report("the shared cache at \(address.name) is not used: \(failure)") }
        }

        static var now: Double { Double(DispatchTime.now().uptimeNanoseconds) / 1e9 }

        // MARK: - Nodes

        private func attempt(_ commands: [Command], until deadline: Deadline) throws(LinkFailure) -> [Reply] {
            guard isCluster else {
                return try runAndFollow(commands, at: try endpoint(until: deadline), until: deadline)
            }
            var (replies, rest): ([Reply], _) = ([], commands[...])
            while let slot = rest.first.map(\.slot) {
                let group = Array(rest.prefix { $0.slot == slot })
                rest = rest.dropFirst(group.count)
                let known = slot.flatMap { slot in state.withLock { $0.nodes[slot] } }
                let node = if let known { known } else { try endpoint(until: deadline) }
                replies += try runAndFollow(group, at: node, until: deadline)
            }
            return replies
        }

        /// Runs commands at a node, and repeats those whose replies are redirections.
        private func runAndFollow(
            _ commands: [Command], at node: Connection.Endpoint, until deadline: Deadline
        ) throws(LinkFailure) -> [Reply] {
            var replies = try run(commands, at: node, until: deadline)
            for index in replies.indices {
                var answering = node
                for _ in 0..<4 {
                    guard case .error(let error) = replies[index] else { break }
                    switch error {
                    case .moved(let slot, let node):
                        answering = try endpoint(of: node, namedBy: answering)
                        state.withLock { $0.nodes[slot] = answering }
                        replies[index] = try run([commands[index]], at: answering, until: deadline)[0]
                    case .ask(let node):
                        answering = try endpoint(of: node, namedBy: answering)
                        replies[index] = try run(
                            [Command(["ASKING"]), commands[index]], at: answering, until: deadline)[1]
                    case .noScript: throw .server("NOSCRIPT")
                    case .refusesWrites, .refusesKey, .other: break
                    }
                }
                if case .error(.moved) = replies[index] { throw .malformed("the cluster redirects in a circle") }
                if case .error(.ask) = replies[index] { throw .malformed("the cluster redirects in a circle") }
            }
            return replies
        }

        /// A redirection without a host means another port of the host that answered.
        private func endpoint(
            of node: ClusterNode, namedBy answering: Connection.Endpoint
        ) throws(LinkFailure) -> Connection.Endpoint {
            if node.host.isEmpty, case .address(let host, _) = answering { return .address(host, port: node.port) }
            guard let address = NameService.numeric(node.host) else {
                throw .refused("the cluster calls a node \(node.host), which is not an address")
            }
            return .address(address, port: node.port)
        }

        /// Runs a command at one server, wherever its keys are.
        func run(_ command: Command, at node: Connection.Endpoint) throws(LinkFailure) -> Reply {
            try run([command], at: node, until: Deadline(after: limit))[0]
        }

        /// The servers that have keys: the primaries of the cluster, or the server itself if it is not in a cluster.
        func primaries() throws(LinkFailure) -> Set<Connection.Endpoint> {
            let server = try endpoint(until: Deadline(after: limit))
            guard let ranges = try run(Command(["CLUSTER", "SLOTS"]), at: server).array else { return [server] }
            var primaries = Set<Connection.Endpoint>()
            for range in ranges {
                guard let parts = range.array, parts.count > 2, let place = parts[2].array, place.count > 1,
                    let port = place[1].number, let node = ClusterNode(host: place[0].text ?? "", port: port)
                else { throw .malformed("the cluster does not list its nodes") }
                primaries.insert(try endpoint(of: node, namedBy: server))
            }
            return primaries
        }

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

        private func endpoint(until deadline: Deadline) throws(LinkFailure) -> Connection.Endpoint {
            if let endpoint = state.withLock({ $0.endpoint }) { return endpoint }
            _ = resolution.wait(timeout: .now() + .milliseconds(Int(deadline.millisecondsLeft)))
            guard let endpoint = state.withLock({ $0.endpoint }) else { throw .refused("no address") }
            return endpoint
        }

        // MARK: - Connections

        private func run(
            _ commands: [Command], at endpoint: Connection.Endpoint, until deadline: Deadline
        ) throws(LinkFailure) -> [Reply] {
            do throws(LinkFailure) {
                return try call(commands, at: endpoint, until: deadline)
            } catch {
                // A node that does not answer may have been replaced. Redirections of other nodes will tell where its slots are.
                state.withLock { state in state.nodes = state.nodes.filter { $0.value != endpoint } }
                throw error
            }
        }

        private func call(
            _ commands: [Command], at endpoint: Connection.Endpoint, until deadline: Deadline
        ) throws(LinkFailure) -> [Reply] {
            guard free.wait(timeout: .now() + .milliseconds(Int(deadline.millisecondsLeft))) == .success else {
                throw .timedOut
            }
            defer { free.signal() }
            while true {
                let idle = idle(endpoint)
                let connection = if let idle { idle } else { try connect(to: endpoint, until: deadline) }
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
                state.idle[connection.endpoint, default: []].append(connection)
            }
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
