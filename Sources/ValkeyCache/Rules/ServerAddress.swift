import Foundation

/// The address of a server, and the client's credentials: a URL as `redis-cli -u` takes it.
///
/// `redis://[[user]:password@]host[:port][/database]`, or `unix://[[user]:password@]/path[?db=database]`. `valkey` means `redis`.
package struct ServerAddress: Hashable, Sendable {
    package enum Place: Hashable, Sendable {
        case host(String, port: Int)
        case socket(String)

        /// The text for logs.
        package var name: String {
            switch self {
            case .host(let host, let port): "\(host.contains(":") ? "[\(host)]" : host):\(port)"
            case .socket(let path): path
            }
        }
    }

    package let place: Place
    /// nil for the default user.
    package let user: String?
    package let password: String?
    package let database: Int

    package init(_ text: String) throws(ValkeyURLError) {
        guard let parts = URLComponents(string: text), let scheme = parts.scheme?.lowercased() else {
            throw .malformed("it is not a URL")
        }
        // The system would cut the name of a host or a socket there.
        guard !(parts.host ?? "").contains("\0"), !parts.path.contains("\0") else {
            throw .malformed("it contains a NUL")
        }
        user = (parts.user?.isEmpty ?? true) ? nil : parts.user
        password = (parts.password?.isEmpty ?? true) ? nil : parts.password
        guard password != nil || user == nil else { throw .malformed("it has a user, but no password") }
        switch scheme {
        case "redis", "valkey":
            guard parts.query == nil else { throw .malformed("a database is written redis://host/database") }
            place = .host(try Self.host(of: parts), port: try Self.port(of: parts))
            database = try Self.database(String(parts.path.drop { $0 == "/" }))
        case "unix":
            guard parts.host?.isEmpty ?? true, parts.path.count > 1 else {
                throw .malformed("a socket is written unix:///path")
            }
            let items = parts.queryItems ?? []
            guard items.count <= 1, items.allSatisfy({ $0.name == "db" }) else {
                throw .malformed("a database is written unix:///path?db=database")
            }
            place = .socket(parts.path)
            database = try Self.database(items.first?.value ?? "")
        case "rediss", "valkeys": throw .tlsUnavailable
        default: throw .unknownScheme(scheme)
        }
    }

    private static func host(of parts: URLComponents) throws(ValkeyURLError) -> String {
        guard var host = parts.host, !host.isEmpty else { throw .malformed("it has no host") }
        if host.hasPrefix("["), host.hasSuffix("]") { host = String(host.dropFirst().dropLast()) }
        return host
    }

    private static func port(of parts: URLComponents) throws(ValkeyURLError) -> Int {
        guard let port = parts.port else { return 6379 }
        guard (1...65_535).contains(port) else { throw .malformed("its port is not between 1 and 65535") }
        return port
    }

    private static func database(_ text: String) throws(ValkeyURLError) -> Int {
        if text.isEmpty { return 0 }
        guard let number = Int(text), (0...65_535).contains(number) else {
            throw .malformed("its database is not a number")
        }
        return number
    }

    /// The address for logs, without user and password.
    package var name: String { place.name }
}

/// Why a URL is not the address of a server.
public enum ValkeyURLError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Something is missing or wrong; the text says what. It never contains the password.
    case malformed(String)
    /// The scheme is none of `redis`, `valkey` and `unix`.
    case unknownScheme(String)
    /// `rediss` needs TLS. hiredis supports TLS from version 1.0 on; this package uses version 0.14, the one of Debian 12.
    case tlsUnavailable

    /// One sentence.
    public var description: String {
        switch self {
        case .malformed(let what): "The URL of the Valkey server is wrong: \(what)."
        case .unknownScheme(let scheme): "There is no server with the scheme \(scheme): use redis, valkey or unix."
        case .tlsUnavailable:
            "There is no TLS here, because hiredis 0.14 has none: use redis:// through a tunnel, or a unix socket."
        }
    }
}
