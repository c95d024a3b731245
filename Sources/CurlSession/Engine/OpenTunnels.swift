/// With which `Proxy-Authorization` of a request or session each tunnel was opened. A pure value.
///
/// libcurl reuses a tunnel whatever that field was, and so would send one user's request through a tunnel that the proxy has opened
/// for another. It compares only credentials that it sends itself, since 8.19 (CVE-2026-3784).
struct OpenTunnels {
    /// The maximum number of tunnels that are remembered. Another tunnel than these is not reused.
    private static let limit = 1000
    private var owners: [UInt: String?] = [:]

    /// Notes a new tunnel. It replaces one with the same identifier, which has been closed.
    mutating func opened(_ connection: UInt, with authorization: String?) {
        if owners.count >= Self.limit { owners = [:] }
        owners.updateValue(authorization, forKey: connection)
    }

    /// Whether a request with this `Proxy-Authorization`, or without one, may use the tunnel.
    func isOpen(_ connection: UInt, for authorization: String?) -> Bool {
        guard let owner = owners[connection] else { return false }
        return owner == authorization
    }
}
