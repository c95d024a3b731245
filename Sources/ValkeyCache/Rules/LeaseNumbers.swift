import Foundation

/// The numbers of the leases that this process holds, by URL. For each key, the server gives later leases larger numbers. So it can
/// refuse a response that was requested under an earlier lease than the stored response, whatever the machines' clocks say.
package struct LeaseNumbers: Sendable {
    private struct Holding {
        let token: UInt64
        let number: UInt64
        let since: Date
        let expires: Date
    }

    private var held: [UInt64: [Holding]] = [:]

    package init() {}

    /// Notes a lease that was granted. Call it before the request is sent.
    package mutating func add(_ number: UInt64, token: UInt64, url: UInt64, at now: Date, until expires: Date) {
        held[url, default: []].append(Holding(token: token, number: number, since: now, expires: expires))
    }

    /// Forgets a lease that has ended. Returns when it would have expired; nil if it is not known.
    package mutating func remove(token: UInt64, url: UInt64) -> Date? {
        guard let index = held[url]?.firstIndex(where: { $0.token == token }) else { return nil }
        let expires = held[url]?.remove(at: index).expires
        if held[url]?.isEmpty ?? false { held[url] = nil }
        return expires
    }

    /// The number of the last lease of the URL that was granted before the request; 0 if there is none.
    package func number(of url: UInt64, requested: Date) -> UInt64 {
        held[url]?.last { $0.since <= requested }?.number ?? 0
    }
}
