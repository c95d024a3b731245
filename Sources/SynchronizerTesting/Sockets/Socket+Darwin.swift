#if canImport(Darwin)
    import Darwin

    let systemClose = Darwin.close
    let systemBind = Darwin.bind
    let systemSocket = Darwin.socket
    let systemAccept = Darwin.accept

    extension Socket {
        static let sendFlags: Int32 = 0
        static let streamType = Darwin.SOCK_STREAM

        /// Prevents SIGPIPE. On Darwin, `send` has no flag for that.
        static func silence(_ descriptor: Int32) {
            try? Socket(descriptor: descriptor).set(SO_NOSIGPIPE, to: Int32(1))
        }
    }
#endif
