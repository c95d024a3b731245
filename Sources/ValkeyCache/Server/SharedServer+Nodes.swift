#if Valkey && canImport(CHiredis)
    import Foundation

    /// The server may be a node of a cluster. Redirections tell which nodes have the keys.
    extension SharedServer {
        func attempt(_ commands: [Command], until deadline: Deadline) throws(LinkFailure) -> [Reply] {
            let server = try endpoint(until: deadline)
            guard isCluster else {
                let replies = try run(commands, at: server, until: deadline)
                return try follow(replies, to: commands, from: server, until: deadline)
            }
            var (replies, rest): ([Reply], _) = ([], commands[...])
            while let slot = rest.first.map(\.slot) {
                let group = Array(rest.prefix { $0.slot == slot })
                rest = rest.dropFirst(group.count)
                let (node, answers) = try ask(group, of: slot, server: server, until: deadline)
                replies += try follow(answers, to: group, from: node, until: deadline)
            }
            return replies
        }

        /// Runs commands at the node of their slot, or at the first other node that can be reached.
        private func ask(
            _ commands: [Command], of slot: Int?, server: Connection.Endpoint, until deadline: Deadline
        ) throws(LinkFailure) -> (Connection.Endpoint, [Reply]) {
            var failure = LinkFailure.pausing
            for node in state.withLock({ $0.nodes.candidates(for: slot, main: server) }) {
                do throws(LinkFailure) {
                    return (node, try run(commands, at: node, until: deadline))
                } catch {
                    // After any other failure, the node may have run the commands, or may still do so.
                    guard error.isBeforeCommands, deadline.millisecondsLeft > 0 else { throw error }
                    if error != .pausing { failure = error }
                }
            }
            throw failure
        }

        /// Repeats the commands whose replies are redirections.
        private func follow(
            _ replies: [Reply], to commands: [Command], from node: Connection.Endpoint, until deadline: Deadline
        ) throws(LinkFailure) -> [Reply] {
            var replies = replies
            for index in replies.indices {
                var answering = node
                for _ in 0..<4 {
                    guard case .error(let error) = replies[index] else { break }
                    switch error {
                    case .moved(let slot, let node):
                        answering = try endpoint(of: node, namedBy: answering)
                        state.withLock { $0.nodes.note(answering, of: slot) }
                        replies[index] = try run([commands[index]], at: answering, until: deadline)[0]
                    case .ask(let node):
                        answering = try endpoint(of: node, namedBy: answering)
                        replies[index] = try run(
                            [Command(["ASKING"]), commands[index]], at: answering, until: deadline)[1]
                    case .noScript: throw .server("NOSCRIPT")
                    case .refusesWrites, .refusesKey, .unavailable, .other: break
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
                throw .malformed("the cluster calls a node \(node.host), which is not an address")
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

        /// Runs commands at a node, unless it has failed several times. Replies may be redirections.
        private func run(
            _ commands: [Command], at node: Connection.Endpoint, until deadline: Deadline
        ) throws(LinkFailure) -> [Reply] {
            guard state.withLock({ $0.nodes.allows(node, at: Self.now) }) else { throw .pausing }
            do throws(LinkFailure) {
                let replies = try call(commands, at: node, until: deadline)
                for case .error(.unavailable(let why)) in replies { throw .server(why) }
                state.withLock { $0.nodes.didAnswer(node) }
                return replies
            } catch {
                guard isCluster else { throw error }
                let failure = error.ofNode
                guard failure.isOfNode else { throw failure }
                if state.withLock({ $0.nodes.didFail(node, at: Self.now) }) {
                    report("the node \(node.name) of the shared cache at \(address.name) is not used: \(failure)")
                }
                throw failure
            }
        }
    }

    extension LinkFailure {
        /// The same failure of a node of a cluster. A node that runs no commands now counts as one that can't be reached.
        fileprivate var ofNode: LinkFailure {
            if case .server(let why) = self { .refused(why) } else { self }
        }
    }
#endif
