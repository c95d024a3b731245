#if Valkey && canImport(CHiredis)
    import Foundation

    extension SharedServer {
        /// Connects to the server, or else to another node of its cluster, in twice the given seconds. If the name service is slow,
        /// this takes longer.
        ///
        /// - Parameter key: a key that the node must be able to look for. A node that does not reach its cluster looks for none,
        ///   and announces no changes.
        func connect(within seconds: TimeInterval, lookingFor key: String? = nil) throws(LinkFailure) -> Connection {
            do throws(LinkFailure) {
                return try connectToServer(within: seconds, lookingFor: key)
            } catch {
                let nodes = state.withLock { $0.nodes.workingNodes.prefix(Self.mostOthers) }
                for node in nodes {
                    let deadline = Deadline(after: seconds / Double(nodes.count))
                    if let connection = try? connect(to: node, lookingFor: key, until: deadline) { return connection }
                }
                throw error
            }
        }

        /// The most other nodes to try.
        private static let mostOthers = 4

        /// Connects at the first of the server's addresses that answers.
        private func connectToServer(
            within seconds: TimeInterval, lookingFor key: String?
        ) throws(LinkFailure) -> Connection {
            switch address.place {
            case .socket(let path):
                return try connect(toFirstOf: [.socket(path)], lookingFor: key, within: seconds)
            case .host(let host, let port):
                let endpoints = try NameService.addresses(of: host).map { Connection.Endpoint.address($0, port: port) }
                return try connect(toFirstOf: endpoints, lookingFor: key, within: seconds)
            }
        }

        /// Calls use the endpoint that answers. They wait until one does, or only the last one is left.
        func connect(
            toFirstOf endpoints: [Connection.Endpoint], lookingFor key: String? = nil, within seconds: TimeInterval
        ) throws(LinkFailure) -> Connection {
            var failure = LinkFailure.refused("no address")
            for (index, endpoint) in endpoints.enumerated() {
                if index == endpoints.count - 1 { didResolve(endpoint) }
                do throws(LinkFailure) {
                    let deadline = Deadline(after: seconds / Double(endpoints.count))
                    let connection = try connect(to: endpoint, lookingFor: key, until: deadline)
                    didResolve(endpoint)
                    return connection
                } catch {
                    failure = error
                }
            }
            throw failure
        }

        private func connect(
            to endpoint: Connection.Endpoint, lookingFor key: String?, until deadline: Deadline
        ) throws(LinkFailure) -> Connection {
            let connection = try connect(to: endpoint, until: deadline)
            guard let key else { return connection }
            try check(connection.call([Command(["EXISTS", key])], until: deadline))
            return connection
        }

        /// Throws if a node that announces changes has lost its cluster: such a node still answers a `PING`. Asks it even if its
        /// breaker is open, which refusals of a lost cluster open, too.
        func checkCluster(at node: Connection.Endpoint, lookingFor key: String) throws(LinkFailure) {
            let replies = try? call([Command(["EXISTS", key])], at: node, until: Deadline(after: limit))
            try check(replies ?? [])
        }

        private func check(_ replies: [Reply]) throws(LinkFailure) {
            for case .error(.unavailable(let why)) in replies { throw .server(why) }
        }
    }
#endif
