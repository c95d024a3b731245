#if Valkey && canImport(CHiredis)
    import Foundation
    import SQLiteCache
    import SynchronizerSupport

    /// Reads all entries of a namespace on a server, or on the servers of its cluster, and changes nothing.
    package final class SharedInspection {
        package struct Entry: Sendable {
            package let entry: SharedEntry
            fileprivate let key: String
        }

        /// Why the inspection failed, as a text for the user.
        package struct Problem: Error, CustomStringConvertible {
            package let description: String
        }

        package struct Contents: Sendable {
            package var entries: [Entry] = []
            /// The number of corrupt values.
            package var corrupt = 0
        }

        private let server: SharedServer
        private let keys: Keyspace
        /// nil if the value of its key is corrupt.
        private let generation: String?
        /// Seconds to wait for each answer.
        private static let patience: TimeInterval = 5

        /// - Parameter namespace: nil for the only namespace on the server.
        package init(_ url: String, namespace: String?) throws {
            let address = try ServerAddress(url)
            let server = SharedServer(address, limit: Self.patience, isReadOnly: true) { _ in }
            self.server = server
            _ = try Self.asking(server) { try server.connect(within: Self.patience) }
            let name = try namespace ?? Self.onlyNamespace(on: server)
            keys = Keyspace(namespace: name, database: address.database)
            let reply = try Self.run(keys.currentGeneration, on: server)
            guard reply != .null else {
                throw Problem(description: "There is no cache named \(name) at \(address.name).")
            }
            generation = reply?.text
        }

        package func contents() throws -> Contents {
            guard let generation else { return Contents(corrupt: 1) }
            var contents = Contents()
            for key in try Self.scan(keys.pattern(of: generation), on: server) {
                let read = Command(.read, keys: [key], arguments: [.text("none"), .text("-1")])
                guard let parts = try Self.run(read, on: server)?.array else {
                    contents.corrupt += 1
                    continue
                }
                for index in stride(from: 0, to: parts.count - 3, by: 2) {
                    guard let name = parts[index].text, name != "x", let value = parts[index + 1].data else { continue }
                    if let entry = SharedEntry(value, url: nil, variant: name),
                        keys.entries(of: URLDigest(entry.response.url), in: generation) == key
                    {
                        contents.entries.append(Entry(entry: entry, key: key))
                    } else {
                        contents.corrupt += 1
                    }
                }
            }
            contents.entries.sort { $0.entry.revision < $1.entry.revision }
            return contents
        }

        /// Whether the body is intact; nil if the server does not keep the body, or the entry has changed or gone since.
        package func isIntact(_ entry: Entry) throws -> Bool? {
            guard !entry.entry.isLocal else { return nil }
            let most = Command.Argument.text("\(entry.entry.bodySize)")
            let read = Command(.read, keys: [entry.key], arguments: [.text(entry.entry.variant), most])
            let parts = try Self.run(read, on: server)?.array ?? []
            let place = stride(from: 0, to: parts.count - 3, by: 2).first { parts[$0].text == entry.entry.variant }
            guard let place, parts[place + 1].data == entry.entry.encoded else { return nil }
            return parts.last?.data.map(entry.entry.isBody) ?? false
        }

        private static func onlyNamespace(on server: SharedServer) throws -> String {
            let suffix = Keyspace(namespace: "", database: 0).generation
            let found = try scan("*" + suffix, on: server).map { String($0.dropLast(suffix.count)) }.sorted()
            guard let first = found.first else {
                throw Problem(description: "There is no cache at \(server.address.name).")
            }
            guard found.count == 1 else {
                throw Problem(
                    description: "There are several caches; name one of them with --namespace:\n"
                        + found.map { "  \($0)" }.joined(separator: "\n"))
            }
            return first
        }

        private static func scan(_ pattern: String, on server: SharedServer) throws -> Set<String> {
            try asking(server) { try server.primaries() }.reduce(into: []) { found, node in
                var cursor = "0"
                repeat {
                    let command = Command(["SCAN", cursor, "MATCH", pattern, "COUNT", "500"])
                    let reply = try asking(server) { try server.run(command, at: node) }
                    guard let parts = reply.array, parts.count == 2, let next = parts[0].text, let keys = parts[1].array
                    else {
                        throw Problem(description: "The server does not list its keys.")
                    }
                    cursor = next
                    found.formUnion(keys.compactMap(\.text).filter { $0.hasSuffix("}") || $0.hasSuffix(":generation") })
                } while cursor != "0"
            }
        }

        /// nil if the value of the command's key has another type, or is too large to be read.
        private static func run(_ command: Command, on server: SharedServer) throws -> Reply? {
            try asking(server) {
                do {
                    return try server.run([command])[0]
                } catch LinkFailure.unreadable {
                    return nil
                }
            }
        }

        private static func asking<Answer>(
            _ server: SharedServer, _ ask: () throws -> Answer
        ) throws -> Answer {
            do {
                return try ask()
            } catch {
                throw Problem(description: "The server at \(server.address.name) cannot be asked: \(error).")
            }
        }
    }
#endif
