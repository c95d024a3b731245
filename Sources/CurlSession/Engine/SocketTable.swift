import Glibc

/// What the engine knows of each socket, by descriptor.
struct SocketTable {
    struct Entry {
        /// The pool to whose connection the socket belongs.
        var pool: ConnectionPool?
        /// Whether the session opened it, and so is told when it is closed. libcurl's resolver has sockets of its own.
        var isOwn = false
        /// What libcurl waits for.
        var wanted: UInt32 = 0
        /// The events that `epoll` reports: more than `wanted` after a transfer has ended, because the next one usually wants the
        /// same.
        var watched: UInt32 = 0
        /// It carries HTTP/2, whose peer may speak at any time.
        var isMultiplexed = false
        /// It must not be used again. libcurl closes it when it next looks for a connection to the same host.
        var isShutDown = false

        /// Whether it carries HTTP/1, and libcurl does not wait for it: it is idle, or in the hands of a transfer that has paused.
        var isQuiet: Bool { isOwn && wanted == 0 && !isMultiplexed && !isShutDown }
    }

    private var entries: [Entry] = []

    func pool(of socket: Int32) -> ConnectionPool? {
        entries.indices.contains(Int(socket)) ? entries[Int(socket)].pool : nil
    }

    subscript(socket: Int32) -> Entry {
        get { entries.indices.contains(Int(socket)) ? entries[Int(socket)] : Entry() }
        set {
            while entries.count <= Int(socket) { entries.append(Entry()) }
            entries[Int(socket)] = newValue
        }
    }
}
