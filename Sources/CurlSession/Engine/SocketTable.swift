import Glibc

/// The state of each socket, by descriptor.
struct SocketTable {
    struct Entry {
        /// Handles the events of the socket.
        var handler: (any EventHandler)?
        /// Whether the session opened the socket. libcurl's resolver has sockets of its own.
        var isOwn = false
        /// The identity of an own socket, until it is known to have been connected. Before 8.2.1, libcurl does not say when it closes
        /// a socket that was never connected. Then the descriptor may belong to another part of the process by now.
        var unconnected: FileIdentity?
        /// The events that libcurl waits for.
        var wanted: UInt32 = 0
        /// The events that `epoll` reports. After a transfer has ended, they are more than `wanted`, because the next transfer
        /// usually wants the same events.
        var watched: UInt32 = 0
        /// The ports of a connection of HTTP/2; nil for others.
        var sharedPorts: ConnectionPorts?
        /// When bytes last arrived.
        var lastInput: UInt64 = 0
        /// Whether the socket must not be used again. libcurl closes it when it next looks for a connection to the same host.
        var isShutDown = false

        /// Whether the socket carries HTTP/2, whose server may send at any time.
        var isMultiplexed: Bool { sharedPorts != nil }

        /// Whether the socket carries HTTP/1, and libcurl does not wait for it: it is idle, or a paused transfer uses it.
        var isQuiet: Bool { isOwn && unconnected == nil && wanted == 0 && !isMultiplexed && !isShutDown }
    }

    private var entries: [Entry] = []

    func handler(of socket: Int32) -> (any EventHandler)? {
        entries.indices.contains(Int(socket)) ? entries[Int(socket)].handler : nil
    }

    subscript(socket: Int32) -> Entry {
        get { entries.indices.contains(Int(socket)) ? entries[Int(socket)] : Entry() }
        set {
            while entries.count <= Int(socket) { entries.append(Entry()) }
            entries[Int(socket)] = newValue
        }
    }
}

/// What the system calls the file behind a descriptor.
struct FileIdentity: Equatable {
    private let device: dev_t
    private let inode: ino_t

    /// Nil if the descriptor is not open.
    init?(of descriptor: Int32) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return nil }
        (device, inode) = (status.st_dev, status.st_ino)
    }
}
