#if !canImport(Darwin)
    import Foundation
    import ScriptedServer
    import Synchronizer

    /// A server of TLS on 127.0.0.1 that hands the plain bytes on to a server in this process, and back.
    ///
    /// Each connection has a thread of its own, which it blocks.
    public final class TLSRelay: Sendable {
        /// What the relay shows to clients, and wants of them.
        public struct Options: Sendable {
            /// What it shows.
            public var certificate = TestCertificate.good
            /// The highest version of TLS.
            public var maximumVersion = TLSConfiguration.Version.tls13
            /// Whether clients must show a certificate of the trusted authority.
            public var wantsClientCertificate = false
            /// The protocol that it chooses: HTTP/2 or HTTP/1.1.
            public var speaksHTTP2 = false
            /// How it closes a connection that the server behind has closed.
            public var ending = Ending.alert
            /// The port of the server behind; nil for the one that the relay was made for.
            public var upstream: UInt16?

            /// A good certificate, for all clients, over HTTP/1.1.
            public init() {}
        }

        /// How a connection ends.
        public enum Ending: Sendable, CaseIterable {
            /// With an alert, as it should.
            case alert
            /// Without an alert, as if a stranger had closed it.
            case silence
            /// In the middle of a record.
            case record
        }

        /// The connections so far.
        public struct Counts: Sendable {
            /// Connections that were accepted.
            public var connections = 0
            /// Those whose handshake the client did not break off.
            public var handshakes = 0
        }

        /// The port that it listens on.
        public let port: UInt16
        private let listener: Int32
        private let options: Locked<Options>
        private let observed = Observed(Counts())

        /// Starts a relay to a port of 127.0.0.1.
        public init(to upstream: UInt16, _ change: (inout Options) -> Void = { _ in }) throws {
            var chosen = Options()
            change(&chosen)
            options = Locked(chosen)
            listener = try Descriptor.listening()
            port = Descriptor.port(of: listener)
            let (listener, options, observed) = (listener, options, observed)
            Thread.detachNewThread {
                Descriptor.blockSignals()
                while let client = Descriptor.accepted(listener) {
                    observed.update { $0.connections += 1 }
                    let options = options.withLock { $0 }
                    Thread.detachNewThread {
                        TLSConnection(client, to: options.upstream ?? upstream).run(options) {
                            observed.update { $0.handshakes += 1 }
                        }
                    }
                }
                close(listener)
            }
        }

        deinit {
            shutdown(listener, Int32(SHUT_RDWR))  // the thread that accepts closes it
        }

        /// Changes the options of new connections, such as the certificates that are shown and required.
        public func change(_ change: (inout Options) -> Void) {
            options.withLock { change(&$0) }
        }

        /// The connections so far.
        public var counts: Counts { observed.read { $0 } }

        /// The URL of a target.
        public func url(_ target: String = "/", host: String = "127.0.0.1") -> URL {
            guard let url = URL(string: "https://\(host):\(port)\(target)") else {
                preconditionFailure("\(target) is no target of a request")
            }
            return url
        }
    }

    /// A client's connection, and the one to the plain server behind.
    private struct TLSConnection {
        private let client: Int32
        private let server: Int32
        private let library = OpenSSL.shared

        init(_ client: Int32, to port: UInt16) {
            self.client = client
            server = Descriptor.connected(to: port)
        }

        /// Returns when the connection is over.
        func run(_ options: TLSRelay.Options, whenTrusted: () -> Void) {
            Descriptor.blockSignals()  // OpenSSL's writes would raise SIGPIPE
            let context = library.context(options)
            let connection = library.newConnection(context)
            defer {
                library.freeConnection(connection)
                library.freeContext(context)
                close(client)
                close(server)
            }
            guard library.setDescriptor(connection, client) == 1, library.accept(connection) == 1 else {
                return Descriptor.finish(client)  // or a reset might overtake the alert
            }
            whenTrusted()
            var buffer = [UInt8](repeating: 0, count: 16 << 10)
            while copy(connection, &buffer, options.ending) {}
        }

        /// Copies what either side has sent. False at the end.
        private func copy(
            _ connection: OpenSSL.Object?, _ buffer: inout [UInt8], _ ending: TLSRelay.Ending
        ) -> Bool {
            var waiting = [client, server].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
            let hasMore = library.pending(connection) > 0
            guard hasMore || poll(&waiting, 2, -1) > 0 else { return false }
            if hasMore || waiting[0].revents != 0 {
                let count = library.read(connection, &buffer, Int32(buffer.count))
                guard count > 0, Descriptor.writeAll(server, buffer[..<Int(count)]) else { return false }
            }
            guard waiting[1].revents != 0 else { return true }
            let count = read(server, &buffer, buffer.count)
            guard count > 0 else {
                if count == 0 { end(connection, ending) } else { Descriptor.resetWhenClosed(client) }
                return false
            }
            return library.write(connection, buffer, Int32(count)) > 0
        }

        private func end(_ connection: OpenSSL.Object?, _ ending: TLSRelay.Ending) {
            switch ending {
            case .alert: _ = library.shutdown(connection)
            case .silence: break
            case .record: _ = Descriptor.writeAll(client, [0x17, 3, 3, 0, 100, 1, 2, 3])  // 3 of 100 bytes
            }
        }
    }
#endif
