#if Valkey
    import Foundation
    import TestSupport
    import Testing

    @testable import ValkeyCache

    /// A server that answers each command with bytes of the test's choice. It listens on a socket in a directory of its own.
    final class FakeServer: Sendable {
        enum Answer {
            case bytes(String)
            case data(Data, ends: Bool)
            /// Bytes, and then the end of the connection.
            case cut(String)
            case silence
        }

        private let directory = DisposableDirectory("fake")
        private let listener: Int32
        private let networkListener: Int32
        /// The threads that accept connections.
        private let accepting = DispatchGroup()

        var path: String { "\(directory.url.path)/socket" }
        var url: String { "unix://\(path)" }
        /// The same server on 127.0.0.1.
        let port: Int

        /// - Parameter answer: nil for what a server without data answers.
        convenience init(_ answer: @escaping @Sendable ([String]) -> Answer?) throws {
            try self.init { _, command in answer(command) }
        }

        /// - Parameter answer: the same, by the number of the connection.
        init(_ answer: @escaping @Sendable (Int, [String]) -> Answer?) throws {
            let count = Locked(0)
            try FileManager.default.createDirectory(at: directory.url, withIntermediateDirectories: true)
            let listener = socket(AF_UNIX, Self.stream, 0)
            self.listener = listener
            (networkListener, port) = try Self.listenOnNetwork()
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
            let bound = withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(listener, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
                }
            }
            try #require(bound == 0 && listen(listener, 64) == 0)
            for listener in [listener, networkListener] {
                accepting.enter()
                Thread.detachNewThread { [accepting] in
                    defer { accepting.leave() }
                    while true {
                        let connection = accept(listener, nil, nil)
                        guard connection >= 0 else { return }
                        let number = count.withLock { count in
                            defer { count += 1 }
                            return count
                        }
                        Thread.detachNewThread { Self.serve(connection) { answer(number, $0) } }
                    }
                }
            }
        }

        deinit {
            for listener in [listener, networkListener] { shutdown(listener, Int32(SHUT_RDWR)) }
            accepting.wait()
            // Not before: the next listener, perhaps that of another server, may get the same number.
            for listener in [listener, networkListener] { close(listener) }
        }

        /// Sockets that child processes do not inherit.
        private static let stream = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)

        fileprivate static func listenOnNetwork() throws -> (Int32, port: Int) {
            let listener = socket(AF_INET, stream, 0)
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_addr.s_addr = UInt32(INADDR_LOOPBACK).bigEndian
            var size = socklen_t(MemoryLayout<sockaddr_in>.size)
            try withUnsafeMutablePointer(to: &address) { pointer in
                try pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                    try #require(bind(listener, address, size) == 0 && listen(listener, 64) == 0)
                    try #require(getsockname(listener, address, &size) == 0)
                }
            }
            return (listener, Int(UInt16(bigEndian: address.sin_port)))
        }

        private static func serve(_ connection: Int32, _ answer: ([String]) -> Answer?) {
            defer { close(connection) }
            guard let input = fdopen(dup(connection), "r") else { return }
            defer { fclose(input) }
            while let command = command(from: input) {
                var (bytes, isLast) = (Data(), false)
                switch answer(command) ?? .bytes(usual(command)) {
                case .bytes(let text): bytes = Data(text.utf8)
                case .data(let data, let ends): (bytes, isLast) = (data, ends)
                case .cut(let text):
                    _ = text.withCString { send(connection, $0, strlen($0), Int32(MSG_NOSIGNAL)) }
                    return
                case .silence: continue
                }
                let sent = bytes.withUnsafeBytes { send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
                guard sent > 0, !isLast else { return }
            }
        }

        private static func command(from input: UnsafeMutablePointer<FILE>) -> [String]? {
            guard let count = number(from: input) else { return nil }
            return (0..<count).reduce(into: [String]?([])) { words, _ in
                guard let length = number(from: input) else { return words = nil }
                var bytes = [UInt8](repeating: 0, count: length + 2)
                guard fread(&bytes, 1, bytes.count, input) == bytes.count else { return words = nil }
                words?.append(String(decoding: bytes.dropLast(2), as: UTF8.self))
            }
        }

        private static func number(from input: UnsafeMutablePointer<FILE>) -> Int? {
            var line = [CChar](repeating: 0, count: 64)
            guard fgets(&line, 64, input) != nil else { return nil }
            let text = String(
                decoding: line.dropFirst().prefix { $0 != 13 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            return Int(text)
        }

        static let digest = "$40\r\n" + String(repeating: "a", count: 40) + "\r\n"

        static func confirmation(of channel: String) -> String {
            "*3\r\n$9\r\nsubscribe\r\n$\(channel.utf8.count)\r\n\(channel)\r\n:1\r\n"
        }

        private static func usual(_ command: [String]) -> String {
            switch command.first {
            case "SCRIPT": digest
            // The channels of leases are not confirmed: a confirmation makes the cache ask about the lease once more.
            case "SUBSCRIBE": confirmation(of: command.last.flatMap { $0.hasSuffix(":changes") ? $0 : nil } ?? "c")
            case "PING": "*2\r\n$4\r\npong\r\n$0\r\n\r\n"
            case "GET": "$1\r\ng\r\n"
            case "EVALSHA", "HGETALL": "*0\r\n"
            case "GETRANGE": "$0\r\n\r\n"
            default: "+OK\r\n"
            }
        }
    }

    extension RedisServer {
        /// Starts a server on ports of 127.0.0.1. If another program takes a port before the server does, this tries other ports.
        static func onNetwork(isCluster: Bool) throws -> (server: RedisServer, port: Int, busPort: Int) {
            var failure: (any Error)?
            for _ in 0..<10 {
                let (port, busPort) = (try freePort(), try freePort())
                let cluster = isCluster ? ["--cluster-enabled", "yes", "--cluster-port", "\(busPort)"] : []
                do {
                    return (try RedisServer(["--bind", "127.0.0.1", "--port", "\(port)"] + cluster), port, busPort)
                } catch {
                    failure = error
                }
            }
            throw try #require(failure)
        }

        /// A port of 127.0.0.1 on which no program listens.
        private static func freePort() throws -> Int {
            let (listener, port) = try FakeServer.listenOnNetwork()
            close(listener)
            return port
        }
    }
#endif
