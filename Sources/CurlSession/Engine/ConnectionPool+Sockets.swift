import CCurl
import Foundation

/// The sockets of a pool's connections: which of their events `epoll` reports, and which sockets must not be used again.
extension ConnectionPool {
    func opened(_ socket: Int32) {
        ownSockets.insert(socket)
        engine.withSockets { table, epoll in
            let former = table[socket]
            var entry = SocketTable.Entry(handler: self, isOwn: true, unconnected: FileIdentity(of: socket))
            // libcurl may have closed a socket and opened this one without a callback in between. Then it takes this one for watched.
            if former.isOwn, former.handler === self {
                epoll.watch(socket, from: 0, to: former.wanted)
                (entry.wanted, entry.watched) = (former.wanted, former.wanted)
            } else {
                (former.handler as? ConnectionPool)?.ownSockets.remove(socket)
            }
            table[socket] = entry
        }
    }

    func willClose(_ socket: Int32) {
        if !active.isEmpty {
            let ports = ConnectionPorts(of: socket)
            for transfer in active.values { transfer.willClose(socket, at: ports) }
        }
        forget(socket)
    }

    /// Forgets a socket that is closed or about to be closed.
    func forget(_ socket: Int32) {
        ownSockets.remove(socket)
        engine.withSockets { table, epoll in
            // Closing is not enough: if a child of `fork` has a duplicate of the socket, `epoll` would report its events forever.
            epoll.watch(socket, from: table[socket].watched, to: 0)
            table[socket] = SocketTable.Entry()
        }
    }

    /// Notes that the server has said over TLS that it closes a connection.
    func wasClosed(_ tls: UnsafeRawPointer) {
        for transfer in active.values {
            if case .awaited = transfer.closure, transfer.tls.map(UnsafeRawPointer.init) == tls {
                transfer.closure = .announced
            }
        }
    }

    func wants(_ events: UInt32, on socket: Int32, for easy: UnsafeMutableRawPointer?) {
        if let identity = engine.sockets[socket].unconnected, events == 0, identity != FileIdentity(of: socket) {
            // libcurl has closed the socket.
            for transfer in active.values where transfer.socket == socket { transfer.socket = -1 }
            return forget(socket)
        }
        if let transfer = easy.flatMap({ active[$0] }) {
            if events != 0 { transfer.waits(on: socket) }
            if events & Epoll.input == 0, !engine.sockets[socket].isMultiplexed {
                transfer.readingEnded(isSending: events & Epoll.output != 0)
            }
        }
        watch(socket, wanted: events, lazily: true)
    }

    /// - Parameter lazily: Whether to stop watching only when the next event arrives. Usually the next transfer begins before that.
    ///   This saves two system calls.
    func watch(_ socket: Int32, wanted: UInt32, lazily: Bool) {
        engine.withSockets { table, epoll in
            var entry = table[socket]
            if entry.handler == nil { entry.handler = self }
            entry.wanted = wanted
            // While libcurl connects, it only waits to write. After that, it waits for input, or for nothing.
            if wanted != Epoll.output { entry.unconnected = nil }
            if wanted != 0 || !lazily || !entry.isOwn {
                epoll.watch(socket, from: entry.watched, to: wanted)
                entry.watched = wanted
            }
            table[socket] = entry.isOwn || wanted != 0 ? entry : SocketTable.Entry()
        }
    }

    /// Watches a socket that is still open after its transfer has ended. The server should send nothing on it now.
    func becomeIdle(_ socket: Int32) {
        guard ownSockets.contains(socket) else { return }
        engine.withSockets { table, epoll in
            guard table[socket].wanted == 0, table[socket].unconnected == nil, !table[socket].isShutDown else { return }
            epoll.watch(socket, from: table[socket].watched, to: Epoll.input)
            table[socket].watched = Epoll.input
        }
    }

    /// Shuts down a socket that has become readable while it was idle. The bytes on it are not the response to the next request, so
    /// its connection must not be used again. libcurl 7.88 would use it again, but it treats a socket that is shut down as dead.
    func shutDown(_ socket: Int32) {
        engine.withSockets { table, epoll in
            epoll.watch(socket, from: table[socket].watched, to: 0)
            table[socket].watched = 0
            table[socket].isShutDown = true
        }
        shutdown(socket, Int32(SHUT_RDWR))
    }

    func noteInput(on socket: Int32) {
        guard socket >= 0 else { return }
        engine.withSockets { table, _ in table[socket].lastInput = engine.now }
    }

    /// Notes that a socket carries HTTP/2. Does nothing for -1.
    func noteMultiplexed(_ socket: Int32) {
        guard socket >= 0, !engine.sockets[socket].isMultiplexed else { return }
        engine.withSockets { table, _ in table[socket].sharedPorts = ConnectionPorts(of: socket) }
    }

    /// The socket of an HTTP/2 connection with these ports; -1 if there is none.
    func sharedSocket(at ports: ConnectionPorts) -> Int32 {
        ownSockets.first { engine.sockets[$0].sharedPorts.map(ports.matches) == true } ?? -1
    }

    /// Shuts down the HTTP/2 connection of a transfer that times out, if no other transfer uses the connection, and if no byte has
    /// arrived on it while the transfer waited. Later requests would time out on this connection, too.
    func shutDownSilentConnection(of transfer: Transfer) {
        guard case .multiplexed = transfer.connection, ownSockets.contains(transfer.socket),
            engine.sockets[transfer.socket].lastInput <= transfer.lastProgress,
            !active.values.contains(where: { $0.hasConnection && shareConnection(transfer, $0) })
        else { return }
        shutDown(transfer.socket)
    }

    /// Whether the server has ended the connection of a socket. libcurl 7.88 overlooks the end of an HTTP/2 connection if it has not
    /// yet read all bytes before it, such as TLS's closure alert.
    func hasEnded(_ socket: Int32) -> Bool {
        // `POLLRDHUP`, which Glibc does not export, has the value of `EPOLLRDHUP`.
        var entry = pollfd(fd: socket, events: Int16(Epoll.hangUp), revents: 0)
        return poll(&entry, 1, 0) > 0
    }

    /// Whether a socket has bytes to read now, or the server has closed it.
    func isReadable(_ socket: Int32) -> Bool {
        var entry = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
        return poll(&entry, 1, 0) > 0
    }

    /// Whether a paused transfer may be using a quiet socket. libcurl may not have reported the socket of such a transfer.
    func isHeld(_ socket: Int32) -> Bool { hidesSocket || isPaused(socket) }

    private var hidesSocket: Bool { active.values.contains { $0.isPaused && $0.socket < 0 } }

    private func isPaused(_ socket: Int32) -> Bool { active.values.contains { $0.isPaused && $0.socket == socket } }

    private var quietSockets: [Int32] { ownSockets.filter { engine.sockets[$0].isQuiet } }

    /// Shuts down the quiet sockets that are readable. Call it when libcurl has chosen a connection and is about to send a request:
    /// in the same call, libcurl may have read the end of another response on that connection.
    /// - Returns: Whether no quiet socket is readable, apart from those of paused transfers. While the socket of a paused transfer
    ///   is unknown, readable sockets stay open.
    func closeSpeakingConnections() -> Bool {
        var quiet = quietSockets.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        guard !quiet.isEmpty, poll(&quiet, nfds_t(quiet.count), 0) > 0 else { return true }
        let speaking = quiet.filter { $0.revents != 0 && !isPaused($0.fd) }
        if !hidesSocket { for socket in speaking { shutDown(socket.fd) } }
        return speaking.isEmpty
    }

    /// Whether the server has not acknowledged all bytes of a transfer's request.
    func hasUnacknowledgedBytes(_ transfer: Transfer) -> Bool {
        let socket = transfer.socket
        if socket >= 0, engine.sockets[socket].isMultiplexed { return false }
        // If the response arrived at once, libcurl has not reported the socket. Other quiet sockets have no unacknowledged bytes.
        return (socket >= 0 ? [socket] : quietSockets).contains { synchronizer_unacknowledged($0) > 0 }
    }
}

let socketCallback: synchronizer_curl_socket = { easy, socket, what, context, _ in
    var events: UInt32 = 0
    if what == CURL_POLL_IN || what == CURL_POLL_INOUT { events |= Epoll.input }
    if what == CURL_POLL_OUT || what == CURL_POLL_INOUT { events |= Epoll.output }
    ConnectionPool.of(context)?.wants(events, on: socket, for: easy)
    return 0
}

let timerCallback: synchronizer_curl_timer = { _, milliseconds, context in
    ConnectionPool.of(context)?.setTimer(milliseconds)
    return 0
}

let openSocketCallback: synchronizer_curl_open = { context, _, address in
    guard let address else { return -1 }
    let type = address.pointee.socktype | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
    let descriptor = socket(address.pointee.family, type, address.pointee.protocol)
    if descriptor >= 0 { ConnectionPool.of(context)?.opened(descriptor) }
    return descriptor
}

let closeSocketCallback: synchronizer_curl_close = { context, descriptor in
    ConnectionPool.of(context)?.willClose(descriptor)
    return close(descriptor)
}
