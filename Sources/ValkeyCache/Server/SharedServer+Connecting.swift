#if Valkey && canImport(CHiredis)
    import Foundation

    extension SharedServer {
        /// Connects at the first of the server's addresses that answers. If the name service is slow, this takes longer than the
        /// given seconds.
        func connect(within seconds: TimeInterval) throws(LinkFailure) -> Connection {
            switch address.place {
            case .socket(let path): return try connect(toFirstOf: [.socket(path)], within: seconds)
            case .host(let host, let port):
                let addresses = try NameService.addresses(of: host)
                return try connect(toFirstOf: addresses.map { .address($0, port: port) }, within: seconds)
            }
        }

        /// Calls use the endpoint that answers. They wait until one does, or only the last one is left.
        func connect(
            toFirstOf endpoints: [Connection.Endpoint], within seconds: TimeInterval
        ) throws(LinkFailure) -> Connection {
            var failure = LinkFailure.refused("no address")
            for (index, endpoint) in endpoints.enumerated() {
                if index == endpoints.count - 1 { didResolve(endpoint) }
                do throws(LinkFailure) {
                    let deadline = Deadline(after: seconds / Double(endpoints.count))
                    let connection = try connect(to: endpoint, until: deadline)
                    didResolve(endpoint)
                    return connection
                } catch {
                    failure = error
                }
            }
            throw failure
        }
    }
#endif
