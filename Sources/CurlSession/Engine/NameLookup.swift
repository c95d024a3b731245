import CCurl
import Foundation

/// The names that one transfer has looked up. For the engine's thread only.
struct NameLookup {
    /// The name whose addresses libcurl needs. The resolver looks this name up, not libcurl.
    private(set) var awaited: HostName?
    /// Nanoseconds that lookups have taken.
    private(set) var duration: UInt64 = 0
    private var ticket: Resolver.Ticket?
    private var began: UInt64 = 0
    private var answered: Set<HostName> = []
    private var entries: UnsafeMutablePointer<curl_slist>?

    /// Call it when libcurl is about to look up one of these names, or to read it as an address.
    /// - Returns: The first name whose addresses libcurl does not have. Nil if libcurl may go on. Otherwise, the transfer fails,
    ///   and the pool starts it again with the addresses.
    mutating func findMissing(in names: [HostName]) -> HostName? {
        awaited = names.first { !answered.contains($0) }
        return awaited
    }

    mutating func begin(_ ticket: Resolver.Ticket, at now: UInt64) {
        (self.ticket, began) = (ticket, now)
    }

    /// Gives libcurl the addresses of the name that it waits for.
    /// - Returns: Whether there are any.
    mutating func end(_ addresses: [String], for easy: UnsafeMutableRawPointer, at now: UInt64) -> Bool {
        guard let name = awaited.take() else { return false }
        duration += now - began
        ticket = nil
        guard !addresses.isEmpty else { return false }
        answered.insert(name)
        entries = curl_slist_append(entries, name.entry(addresses)) ?? entries
        _ = synchronizer_setopt_pointer(easy, CURLOPT_RESOLVE, entries)
        return true
    }

    /// Cancels the lookup and frees the addresses, because the transfer is over.
    mutating func drop(_ easy: UnsafeMutableRawPointer, from resolver: Resolver) {
        if let ticket = ticket.take() { resolver.cancel(ticket) }
        guard entries != nil else { return }
        _ = synchronizer_setopt_pointer(easy, CURLOPT_RESOLVE, nil)
        curl_slist_free_all(entries)
        entries = nil
    }
}
