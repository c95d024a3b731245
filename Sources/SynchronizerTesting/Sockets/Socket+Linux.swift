#if !canImport(Darwin)
    import Foundation

    let systemClose = close
    let systemBind = bind
    let systemSocket = socket
    let systemAccept = accept

    extension Socket {
        static let sendFlags = Int32(MSG_NOSIGNAL)
        static let streamType = Int32(SOCK_STREAM.rawValue)

        /// Does nothing, because a flag of each `send` prevents SIGPIPE.
        static func silence(_ descriptor: Int32) {}
    }
#endif
