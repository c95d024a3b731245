import Foundation

/// The cookies of a storage, and those that have not been written into it yet. Pure.
struct CookieTable: Sendable {
    /// The maximum number of cookies of a domain, and of all domains together.
    static let maximumPerDomain = 180
    static let maximumInAll = 3000
    /// The maximum number of `Set-Cookie` lines of a response that are read. More cannot be kept: a host sets cookies for itself
    /// and the few domains above it. Without a limit, thousands of lines would delay all sessions that share the storage.
    static let maximumLines = 500

    /// A change that has not been written into the storage.
    enum Change: Sendable, Hashable {
        case set(Cookie)
        case remove(Cookie)
    }

    struct Key: Sendable, Hashable {
        var domain: String
        var isHostOnly: Bool
        var path: String
        var name: String

        init(_ cookie: Cookie) {
            (domain, isHostOnly, path, name) = (cookie.domain, cookie.isHostOnly, cookie.path, cookie.name)
        }
    }

    private struct Entry {
        var cookie: Cookie
        /// False if the cookie has been removed here, but not yet from the storage.
        var isAlive = true
        /// Whether the last change has not been written into the storage.
        var isPending = false
        /// The object in the storage.
        var stored: ObjectIdentifier?
        var created: Int
        var used: Int

        /// The order of removal: insecure cookies first, then the least recently used.
        var rank: (Int, Int, Int) { (cookie.isSecure ? 1 : 0, used, created) }
    }

    private var domains: [String: [Key: Entry]] = [:]
    /// The entries that became pending. Their order does not matter.
    private var pending: [Key] = []
    /// The entry that is being written.
    private var writing: Key?
    private var moment = 0

    var isEmpty: Bool { domains.isEmpty }

    /// The `Cookie` line for a request: longer paths first, then the order of creation (RFC 6265bis §5.8.3).
    mutating func header(for target: CookieTarget, at now: Date) -> String? {
        var found: [Entry] = []
        for domain in CookieTarget.domains(above: target.host) {
            found += (domains[domain] ?? [:]).values.filter {
                $0.isAlive && target.accepts($0.cookie) && !$0.cookie.isExpired(at: now)
            }
        }
        guard !found.isEmpty else { return nil }
        moment += 1
        for entry in found { domains[entry.cookie.domain]?[Key(entry.cookie)]?.used = moment }
        found.sort { ($1.cookie.path.utf8.count, $0.created) < ($0.cookie.path.utf8.count, $1.created) }
        return found.map(\.cookie.text).joined(separator: "; ")
    }

    /// Stores the cookies of a response. Ignores those that the server must not set.
    mutating func store(_ lines: [String], from target: CookieTarget, at now: Date) {
        for line in lines.prefix(Self.maximumLines) {
            guard let line = SetCookieLine(line), let cookie = Cookie(line, from: target, at: now) else { continue }
            guard target.isSecure || !hidesSecureCookie(cookie) else { continue }
            let key = Key(cookie)
            if cookie.isExpired(at: now) {
                remove(key)
            } else {
                insert(cookie)
                setPending(key)
            }
        }
        evict(at: now)
    }

    /// The next change to write into the storage. It counts as being written until `wrote` is called.
    mutating func nextChange() -> Change? {
        while let key = pending.popLast() {
            guard let entry = domains[key.domain]?[key], entry.isPending else { continue }
            domains[key.domain]?[key]?.isPending = false
            writing = key
            return entry.isAlive ? .set(entry.cookie) : .remove(entry.cookie)
        }
        return nil
    }

    /// Notes that a change has been written into the storage.
    /// - Parameter object: The cookie's object in the storage; nil if the storage has none.
    mutating func wrote(_ change: Change, as object: ObjectIdentifier?) {
        writing = nil
        switch change {
        case .set(let cookie):
            domains[cookie.domain]?[Key(cookie)]?.stored = object
        case .remove(let cookie):
            let key = Key(cookie)
            domains[key.domain]?[key]?.stored = nil
            if domains[key.domain]?[key]?.isAlive == false { forget(key) }
        }
    }

    /// Adopts a cookie that the app has put into the storage.
    mutating func appSet(_ cookie: Cookie, as object: ObjectIdentifier) {
        let key = Key(cookie)
        guard domains[key.domain]?[key]?.stored != object else { return }
        insert(cookie)
        domains[key.domain]?[key]?.stored = object
        domains[key.domain]?[key]?.isPending = false
    }

    /// Notes that the app has removed a cookie from the storage, or replaced it.
    mutating func appRemoved(_ cookie: Cookie, as object: ObjectIdentifier) {
        let key = Key(cookie)
        guard let entry = domains[key.domain]?[key], entry.stored == object else { return }
        if entry.isPending && entry.isAlive {
            domains[key.domain]?[key]?.stored = nil
        } else {
            forget(key)
        }
    }

    private mutating func insert(_ cookie: Cookie) {
        let key = Key(cookie)
        moment += 1
        var entry = Entry(cookie: cookie, created: moment, used: moment)
        if let old = domains[key.domain]?[key] {
            (entry.stored, entry.isPending) = (old.stored, old.isPending)
            if old.isAlive { entry.created = old.created }
        }
        domains[key.domain, default: [:]][key] = entry
    }

    private mutating func setPending(_ key: Key) {
        guard domains[key.domain]?[key]?.isPending == false else { return }
        domains[key.domain]?[key]?.isPending = true
        pending.append(key)
    }

    private mutating func remove(_ key: Key) {
        guard let entry = domains[key.domain]?[key] else { return }
        guard entry.stored != nil || writing == key else { return forget(key) }
        domains[key.domain]?[key]?.isAlive = false
        setPending(key)
    }

    private mutating func forget(_ key: Key) {
        domains[key.domain]?[key] = nil
        if domains[key.domain]?.isEmpty == true { domains[key.domain] = nil }
    }

    /// Whether a cookie from an insecure origin would replace a secure one, or hide it.
    private func hidesSecureCookie(_ cookie: Cookie) -> Bool {
        domains.contains { domain, entries in
            (CookieTarget.domain(domain, covers: cookie.domain) || CookieTarget.domain(cookie.domain, covers: domain))
                && entries.values.contains {
                    $0.isAlive && $0.cookie.isSecure && $0.cookie.name == cookie.name
                        && CookieTarget.path($0.cookie.path, covers: cookie.path)
                }
        }
    }

    /// Removes expired cookies, and then, in the order of `rank`, the cookies above the limits.
    private mutating func evict(at now: Date) {
        for (domain, entries) in domains {
            for (key, entry) in entries where entry.isAlive && entry.cookie.isExpired(at: now) { remove(key) }
            trim([domain], to: Self.maximumPerDomain)
        }
        trim(Array(domains.keys), to: Self.maximumInAll)
    }

    private mutating func trim(_ names: [String], to count: Int) {
        guard names.reduce(0, { $0 + (domains[$1]?.count ?? 0) }) > count else { return }
        let alive = names.flatMap { domains[$0] ?? [:] }.filter(\.value.isAlive)
        let order = alive.sorted { $0.value.rank < $1.value.rank }
        for (key, _) in order.prefix(max(0, alive.count - count)) { remove(key) }
    }
}
