#if !canImport(Darwin)
    import Foundation
    import ScriptedServer

    /// An HTTP proxy on 127.0.0.1 whose tunnels all lead to one server in this process, whatever host a client asks for.
    ///
    /// Each connection has a thread of its own, which it blocks.
    public final class TunnelProxy: Sendable {
        /// A CONNECT.
        public struct Request: Sendable {
            /// The host and the port that the client asks for.
            public let target: String
            private let fields: [String: String]

            fileprivate init?(_ head: String) {
                let lines = head.components(separatedBy: "\r\n")
                let words = lines[0].components(separatedBy: " ")
                guard words.count == 3, words[0] == "CONNECT" else { return nil }
                target = words[1]
                var fields: [String: String] = [:]
                for line in lines.dropFirst() {
                    guard let colon = line.firstIndex(of: ":") else { continue }
                    let value = line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
                    fields[line[..<colon].lowercased()] = value
                }
                self.fields = fields
            }

            /// The value of a field; nil without the field.
            public subscript(name: String) -> String? { fields[name.lowercased()] }
        }

        /// The response to a CONNECT as it is sent; nil opens the tunnel.
        public typealias Refusal = @Sendable (Request) -> String?

        /// The port that it listens on.
        public let port: UInt16
        private let listener: Int32
        private let collected = Collector<Request>()

        /// Starts a proxy whose tunnels lead to a port of 127.0.0.1.
        public init(to upstream: UInt16, refusing refusal: @escaping Refusal = { _ in nil }) throws {
            listener = try Descriptor.listening()
            port = Descriptor.port(of: listener)
            let (listener, collected) = (listener, collected)
            Thread.detachNewThread {
                Descriptor.blockSignals()
                while let client = Descriptor.accepted(listener) {
                    Thread.detachNewThread {
                        Descriptor.blockSignals()
                        Tunnel(client: client).run(to: upstream) { request in
                            collected.append(request)
                            return refusal(request)
                        }
                    }
                }
                close(listener)
            }
        }

        deinit {
            shutdown(listener, Int32(SHUT_RDWR))  // the thread that accepts closes it
        }

        /// Each CONNECT so far.
        public var requests: [Request] { collected.elements }

        /// The `connectionProxyDictionary` of a session that uses the proxy for https.
        public func dictionary(user: String? = nil, password: String? = nil) -> [AnyHashable: Any] {
            var dictionary: [AnyHashable: Any] = [
                "HTTPSEnable": 1, "HTTPSProxy": "127.0.0.1", "HTTPSPort": Int(port),
            ]
            if let user, let password {
                dictionary["kCFProxyUsernameKey"] = user
                dictionary["kCFProxyPasswordKey"] = password
            }
            return dictionary
        }
    }

    /// A client's connection.
    private struct Tunnel {
        let client: Int32

        /// Returns when the connection is over.
        func run(to port: UInt16, refusing refusal: TunnelProxy.Refusal) {
            defer { close(client) }
            while let request = readHead().flatMap({ TunnelProxy.Request($0) }) {
                guard let refusal = refusal(request) else { return open(to: port) }
                guard write(refusal, to: client) else { return }
            }
        }

        private func open(to port: UInt16) {
            let server = Descriptor.connected(to: port)
            defer { close(server) }
            guard write("HTTP/1.1 200 Connected\r\n\r\n", to: client) else { return }
            var buffer = [UInt8](repeating: 0, count: 16 << 10)
            while true {
                var waiting = [client, server].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
                guard poll(&waiting, 2, -1) > 0 else { return }
                let (from, to) = waiting[0].revents != 0 ? (client, server) : (server, client)
                let count = read(from, &buffer, buffer.count)
                guard count > 0, Descriptor.writeAll(to, buffer[..<count]) else { return }
            }
        }

        /// A head without its last two line ends; nil at the end of the connection. The client sends nothing more before it has the
        /// response.
        private func readHead() -> String? {
            var head: [UInt8] = []
            var byte: UInt8 = 0
            while !head.suffix(4).elementsEqual("\r\n\r\n".utf8) {
                guard read(client, &byte, 1) == 1 else { return nil }
                head.append(byte)
            }
            return String(decoding: head.dropLast(4), as: UTF8.self)
        }

        private func write(_ text: String, to descriptor: Int32) -> Bool {
            Descriptor.writeAll(descriptor, Array(text.utf8)[...])
        }
    }
#endif
