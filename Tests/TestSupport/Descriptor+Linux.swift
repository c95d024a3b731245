#if !canImport(Darwin)
    import Foundation

    /// Sockets that block, for servers in tests whose connections have a thread each.
    package enum Descriptor {
        /// A listener on a free port of 127.0.0.1.
        package static func listening(backlog: Int32 = 64) throws -> Int32 {
            let descriptor = stream()
            var address = loopback(0)
            guard call(&address, { bind(descriptor, $0, $1) }) == 0, listen(descriptor, backlog) == 0 else {
                throw POSIXError(.EADDRNOTAVAIL)
            }
            return descriptor
        }

        /// The port that a listener has.
        package static func port(of descriptor: Int32) -> UInt16 {
            var address = sockaddr_in()
            var size = socklen_t(MemoryLayout<sockaddr_in>.size)
            _ = call(&address) { address, _ in getsockname(descriptor, address, &size) }
            return UInt16(bigEndian: address.sin_port)
        }

        /// The next connection; nil if the listener has been shut down.
        package static func accepted(_ listener: Int32) -> Int32? {
            while true {
                let descriptor = accept(listener, nil, nil)
                if descriptor >= 0 {
                    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
                    return descriptor
                }
                // Others pass. If the server closed its listener because of one, it might later shut down the socket that got the
                // number of the listener.
                if errno == EINVAL || errno == EBADF { return nil }
            }
        }

        /// A connection to a port of 127.0.0.1. Without a listener there, reads and writes fail.
        package static func connected(to port: UInt16) -> Int32 {
            let descriptor = stream()
            var address = loopback(port)
            _ = call(&address) { connect(descriptor, $0, $1) }
            return descriptor
        }

        /// Whether all bytes were written.
        package static func writeAll(_ descriptor: Int32, _ bytes: ArraySlice<UInt8>) -> Bool {
            var rest = bytes
            while !rest.isEmpty {
                let count = rest.withUnsafeBytes {
                    send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
                }
                guard count > 0 else { return false }
                rest = rest.dropFirst(count)
            }
            return true
        }

        /// Says that nothing more will be sent, and reads until the peer says so, too.
        package static func finish(_ descriptor: Int32) {
            shutdown(descriptor, Int32(SHUT_WR))
            var buffer = [UInt8](repeating: 0, count: 4_096)
            while recv(descriptor, &buffer, buffer.count, 0) > 0 {}
        }

        /// Has `close` send RST in place of FIN.
        package static func resetWhenClosed(_ descriptor: Int32) {
            var option = linger(l_onoff: 1, l_linger: 0)
            setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
        }

        /// Has the calling thread receive no signal.
        package static func blockSignals() {
            var all = sigset_t()
            sigfillset(&all)
            pthread_sigmask(SIG_SETMASK, &all, nil)
        }

        private static func stream() -> Int32 {
            socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        }

        private static func loopback(_ port: UInt16) -> sockaddr_in {
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = port.bigEndian
            address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
            return address
        }

        private static func call(
            _ address: inout sockaddr_in, _ body: (UnsafeMutablePointer<sockaddr>, socklen_t) -> Int32
        ) -> Int32 {
            withUnsafeMutablePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
        }
    }
#endif
