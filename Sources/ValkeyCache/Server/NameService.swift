#if Valkey && canImport(CHiredis)
    import Foundation

    /// Looks up the addresses of hosts.
    enum NameService {
        /// The host if it is an address; nil if it is a name.
        static func numeric(_ host: String) -> String? { try? look(up: host, flags: AI_NUMERICHOST).first }

        /// The addresses of a host, best first; at least one.
        static func addresses(of host: String) throws(LinkFailure) -> [String] { try look(up: host, flags: 0) }

        private static func look(up host: String, flags: Int32) throws(LinkFailure) -> [String] {
            var hints = addrinfo()
            hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
            hints.ai_flags = flags
            var found: UnsafeMutablePointer<addrinfo>?
            let status = getaddrinfo(host, nil, &hints, &found)
            guard status == 0 else { throw .refused(String(cString: gai_strerror(status))) }
            defer { freeaddrinfo(found) }
            let infos = sequence(state: found) { next in
                defer { next = next?.pointee.ai_next }
                return next?.pointee
            }
            let addresses = infos.compactMap(text)
            guard !addresses.isEmpty else { throw .refused("no address") }
            return addresses
        }

        private static func text(of info: addrinfo) -> String? {
            var name = [CChar](repeating: 0, count: Int(NI_MAXHOST))
            let status = getnameinfo(
                info.ai_addr, info.ai_addrlen, &name, socklen_t(name.count), nil, 0, NI_NUMERICHOST)
            guard status == 0 else { return nil }
            return name.withUnsafeBytes { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        }
    }
#endif
