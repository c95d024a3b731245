import Foundation

import Synchronizer
@testable import SynchronizerTesting

/// A client that says what it is told and shows what came back, byte for byte.
///
/// It blocks, so its work is done on a thread of its own.
final class RawClient: Sendable {
    enum Ending: Equatable {
        case closed
        case reset
    }

    private let descriptor: Int32
    private let queue = DispatchQueue(label: "RawClient")
    private let unread = Locked(Data())

    init(_ server: ScriptedServer) throws {
        let descriptor = systemSocket(AF_INET, Socket.streamType, 0)
        self.descriptor = descriptor
        Socket.silence(descriptor)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = server.port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        let size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let failed = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(descriptor, $0, size) }
        }
        guard failed == 0 else { throw SocketError("connect") }
    }

    /// Connects, and asks for a target.
    convenience init(_ server: ScriptedServer, get target: String, _ fields: String...) throws {
        try self.init(server)
        send("GET \(target) HTTP/1.1\r\nHost: here\r\n" + fields.map { $0 + "\r\n" }.joined() + "\r\n")
    }

    /// How many descriptors the process may have open.
    static var descriptorLimit: Int {
        var limit = rlimit()
        #if canImport(Darwin)
            getrlimit(RLIMIT_NOFILE, &limit)
        #else
            getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        #endif
        return Int(clamping: limit.rlim_cur)
    }

    deinit {
        Socket(descriptor: descriptor).close()
    }

    func send(_ text: String) {
        send(Data(text.utf8))
    }

    func send(_ bytes: Data) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let sent = rest.withUnsafeBytes { systemSend(descriptor, $0.baseAddress, $0.count, Socket.sendFlags) }
            guard sent > 0 else { return }
            rest = rest.dropFirst(sent)
        }
    }

    /// Ends the connection with FIN, so that the server sees that the client has gone.
    func leave() {
        Socket(descriptor: descriptor).finishWriting()
    }

    /// Ends the connection with RST once the client is gone.
    func resetsWhenGone() throws {
        try Socket(descriptor: descriptor).set(SO_LINGER, to: linger(l_onoff: 1, l_linger: 0))
    }

    /// All that comes until the server ends the connection, and how it ends it.
    func readToEnd() async throws -> (text: String, ending: Ending) {
        let (bytes, ending) = try await read { _ in false }
        return (String(decoding: bytes, as: UTF8.self), try ending.orThrow())
    }

    /// The text up to and including these characters. The client keeps the text after them for later.
    func read(through mark: String) async throws -> String {
        let (bytes, _) = try await read { $0.range(of: Data(mark.utf8)) != nil }
        guard let end = bytes.range(of: Data(mark.utf8))?.upperBound else {
            throw Surprise.ended(String(decoding: bytes, as: UTF8.self))
        }
        unread.withLock { $0 = bytes[end...] }
        return String(decoding: bytes[..<end], as: UTF8.self)
    }

    /// So many bytes.
    func read(_ count: Int) async throws -> Data {
        let (bytes, _) = try await read { $0.count >= count }
        guard bytes.count >= count else { throw Surprise.ended(String(decoding: bytes, as: UTF8.self)) }
        unread.withLock { $0 = bytes.dropFirst(count) }
        return bytes.prefix(count)
    }

    private func read(until done: @escaping @Sendable (Data) -> Bool) async throws -> (Data, Ending?) {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { continuation.resume(with: Result { try self.readNow(until: done) }) }
        }
    }

    private func readNow(until done: (Data) -> Bool) throws -> (Data, Ending?) {
        var bytes = unread.withLock { unread in
            defer { unread = Data() }
            return Data(unread)
        }
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while !done(bytes) {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            if count == 0 { return (bytes, .closed) }
            if count < 0, errno == ECONNRESET { return (bytes, .reset) }
            guard count > 0 else { throw SocketError("recv") }
            bytes.append(contentsOf: buffer[..<count])
        }
        return (bytes, nil)
    }

    enum Surprise: Error {
        case ended(String)
        case goesOn
    }
}

extension RawClient.Ending? {
    fileprivate func orThrow() throws -> RawClient.Ending {
        guard let self else { throw RawClient.Surprise.goesOn }
        return self
    }
}

private let systemSend = send
