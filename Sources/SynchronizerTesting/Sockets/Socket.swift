import Foundation

/// A TCP socket on the loopback interface. It never blocks and never raises SIGPIPE.
struct Socket: Hashable {
    let descriptor: Int32

    enum IOResult {
        case bytes(Int)
        case wouldBlock
        case end
        case failed(errno: Int32)
    }

    /// A listener on 127.0.0.1; port 0 lets the system choose.
    static func listening(port: UInt16) throws -> Socket {
        let descriptor = systemSocket(AF_INET, streamType, 0)
        guard descriptor >= 0 else { throw SocketError("socket") }
        let socket = Socket(descriptor: descriptor)
        socket.prepare()
        do {
            try socket.set(SO_REUSEADDR, to: Int32(1))
            try socket.bind(port: port)
            guard listen(socket.descriptor, SOMAXCONN) == 0 else { throw SocketError("listen") }
        } catch {
            socket.close()
            throw error
        }
        return socket
    }

    private func prepare() {
        makeUnblocking(descriptor)
        Self.silence(descriptor)
    }

    private func bind(port: UInt16) throws {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        let size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let failed = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { systemBind(descriptor, $0, size) }
        }
        guard failed == 0 else { throw SocketError("bind") }
    }

    /// The port that the socket is bound to.
    func port() throws -> UInt16 {
        var address = sockaddr_in()
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let failed = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &size) }
        }
        guard failed == 0 else { throw SocketError("getsockname") }
        return UInt16(bigEndian: address.sin_port)
    }

    /// The next connection that waits on a listener; nil if none does.
    func accept() throws -> Socket? {
        while true {
            let accepted = systemAccept(descriptor, nil, nil)
            if accepted >= 0 {
                let socket = Socket(descriptor: accepted)
                socket.prepare()
                try? socket.set(TCP_NODELAY, to: Int32(1), level: Int32(IPPROTO_TCP))
                return socket
            }
            switch errno {
            case EINTR, ECONNABORTED: continue
            case EAGAIN, EWOULDBLOCK: return nil
            default: throw SocketError("accept")
            }
        }
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> IOResult {
        result(of: recv(descriptor, buffer.baseAddress, buffer.count, 0), whenNone: .end)
    }

    func write(_ bytes: UnsafeRawBufferPointer) -> IOResult {
        result(of: send(descriptor, bytes.baseAddress, bytes.count, Self.sendFlags), whenNone: .wouldBlock)
    }

    private func result(of count: Int, whenNone none: IOResult) -> IOResult {
        if count > 0 { return .bytes(count) }
        if count == 0 { return none }
        switch errno {
        case EAGAIN, EWOULDBLOCK, EINTR: return .wouldBlock
        case let number: return .failed(errno: number)
        }
    }

    /// Tells the peer that nothing more will be sent (FIN). You can still read the bytes that the peer sends.
    func finishWriting() {
        shutdown(descriptor, Int32(SHUT_WR))
    }

    func close() {
        _ = systemClose(descriptor)
    }

    /// Closes with RST: the peer's next read fails.
    func reset() {
        try? set(SO_LINGER, to: linger(l_onoff: 1, l_linger: 0))
        close()
    }

    func set<Value: BitwiseCopyable>(_ option: Int32, to value: Value, level: Int32 = SOL_SOCKET) throws {
        var value = value
        let size = socklen_t(MemoryLayout<Value>.size)
        guard setsockopt(descriptor, level, option, &value, size) == 0 else { throw SocketError("setsockopt") }
    }
}

/// Makes calls with a descriptor return at once, and closes the descriptor in programs that this process starts.
func makeUnblocking(_ descriptor: Int32) {
    _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
}

/// A pipe whose ends do not block: reading end, writing end.
func makePipe() throws -> (reader: Int32, writer: Int32) {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { throw SocketError("pipe") }
    ends.forEach(makeUnblocking)
    return (ends[0], ends[1])
}

/// The error of a system call that has failed.
struct SocketError: Error, CustomStringConvertible {
    let call: String
    let number = errno

    init(_ call: String) {
        self.call = call
    }

    var description: String { "\(call): \(String(cString: strerror(number)))" }
}
