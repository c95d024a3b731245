import Foundation
import FoundationNetworking
import SynchronizerSupport

/// The part of `HTTPCookieStorage` that the jar needs.
protocol CookieStorage: AnyObject {
    var cookies: [HTTPCookie]? { get }
    var cookieAcceptPolicy: HTTPCookie.AcceptPolicy { get }
    func setCookie(_ cookie: HTTPCookie)
    func deleteCookie(_ cookie: HTTPCookie)
}

extension HTTPCookieStorage: CookieStorage {}

/// Cookies per RFC 6265bis on top of an `HTTPCookieStorage`.
///
/// On Linux the storage checks only the domain of a cookie, and `setCookie` writes the storage's whole file while it holds the
/// storage's lock. So the jar has a table of its own. Before each use, it adopts the app's changes of the storage. It writes the
/// cookies of responses into the storage later, on a queue of its own, or at once if the storage has no file. While it writes, no
/// load reads the storage, so the jar adopts a change that the app makes then only after it has written the current cookie.
///
/// `SameSite` is ignored, because a session has no sites. Cookies from insecure origins cannot be secure, nor replace a secure one.
/// The limit is 180 cookies for each domain, and 3,000 for all domains together.
final class CookieJar: @unchecked Sendable {  // all variables are `let`; the storage has a lock of its own
    fileprivate struct State {
        var table = CookieTable()
        /// The cookies of the storage when it was last read. They are kept so that no new object gets the same identity.
        var known: [HTTPCookie] = []
        var isWriting = false
    }

    private let storage: any CookieStorage
    private let hasFile: Bool
    private let queue = DispatchQueue(label: "CurlSession.CookieJar", qos: .utility)
    private let state = Locked(State())

    /// - Parameter hasFile: Whether the storage writes a file whenever it changes.
    init(_ storage: any CookieStorage, hasFile: Bool) {
        self.storage = storage
        self.hasFile = hasFile
    }

    /// The value of the `Cookie` line for a request; nil if there are no cookies for it.
    ///
    /// An empty jar does not evaluate `url`, because reading the URL of a `URLRequest` takes longer than the rest of this call.
    func header(for url: @autoclosure () -> URL?, at now: @autoclosure () -> Date) -> String? {
        state.withLock { state in
            state.follow(storage)
            guard !state.table.isEmpty, let url = url(), let target = CookieTarget(url) else { return nil }
            return state.table.header(for: target, at: now())
        }
    }

    /// Stores the cookies of a response.
    /// - Parameters:
    ///   - lines: The values of the response's `Set-Cookie` lines.
    ///   - mainDocument: The `mainDocumentURL` of the request.
    func store(
        _ lines: [String], from url: URL, at now: Date, policy: HTTPCookie.AcceptPolicy, mainDocument: URL? = nil
    ) {
        guard !lines.isEmpty, let target = CookieTarget(url) else { return }
        guard policy.accepts(target, mainDocument: mainDocument),
            storage.cookieAcceptPolicy.accepts(target, mainDocument: mainDocument)
        else {
            return
        }
        let isIdle = state.withLock { state in
            state.follow(storage)
            state.table.store(lines, from: target, at: now)
            defer { state.isWriting = true }
            return !state.isWriting
        }
        guard isIdle else { return }
        if hasFile { queue.async { self.write() } } else { write() }
    }

    /// Returns when the storage has all changes so far.
    func written() async {
        await withCheckedContinuation { continuation in queue.async { continuation.resume() } }
    }

    /// Writes into the storage until there is nothing left to write. Only one thread does so at a time.
    private func write() {
        while let change = state.withLock({ $0.nextChange() }) {
            let object = perform(change)
            let cookies = storage.cookies ?? []
            state.withLock { state in
                state.table.wrote(change, as: object.map(ObjectIdentifier.init))
                if let object { state.known.append(object) }
                state.adopt(cookies)
            }
        }
    }

    private func perform(_ change: CookieTable.Change) -> HTTPCookie? {
        switch change {
        case .set(let cookie):
            guard let object = cookie.object else { return nil }
            storage.setCookie(object)
            return object
        case .remove(let cookie):
            if let object = cookie.object { storage.deleteCookie(object) }
            return nil
        }
    }

    // MARK: One jar for each storage

    private struct Known {
        weak var jar: CookieJar?
    }

    private static let jars = Locked<[ObjectIdentifier: Known]>([:])

    /// The jar of a storage, which several sessions may share.
    static func jar(of storage: HTTPCookieStorage) -> CookieJar {
        jars.withLock { known in
            if let jar = known[ObjectIdentifier(storage)]?.jar { return jar }
            // There is no other way to find out whether the storage has a file.
            let jar = CookieJar(storage, hasFile: !storage.description.hasPrefix("Ephemeral"))
            known = known.filter { $0.value.jar != nil }
            known[ObjectIdentifier(storage)] = Known(jar: jar)
            return jar
        }
    }
}

extension CookieJar.State {
    /// Adopts the app's changes of the storage.
    fileprivate mutating func follow(_ storage: any CookieStorage) {
        guard !isWriting else { return }
        adopt(storage.cookies ?? [])
    }

    fileprivate mutating func adopt(_ cookies: [HTTPCookie]) {
        guard !cookies.elementsEqual(known, by: ===) else { return }
        let (old, new) = (Set(known.map(ObjectIdentifier.init)), Set(cookies.map(ObjectIdentifier.init)))
        for cookie in cookies.filter({ !old.contains(ObjectIdentifier($0)) }).sorted(by: { $0.created < $1.created }) {
            table.appSet(Cookie(cookie), as: ObjectIdentifier(cookie))
        }
        for cookie in known where !new.contains(ObjectIdentifier(cookie)) {
            table.appRemoved(Cookie(cookie), as: ObjectIdentifier(cookie))
        }
        known = cookies
    }

    fileprivate mutating func nextChange() -> CookieTable.Change? {
        let change = table.nextChange()
        if change == nil { isWriting = false }
        return change
    }
}

extension HTTPCookie.AcceptPolicy {
    /// Whether a host may set cookies for a request of a main document. Without a main document, the host may.
    fileprivate func accepts(_ target: CookieTarget, mainDocument: URL?) -> Bool {
        switch self {
        case .always: return true
        case .never: return false
        default:
            guard let mainDocument, let host = CookieTarget(mainDocument)?.host else { return true }
            return CookieTarget.domain(host, covers: target.host) || CookieTarget.domain(target.host, covers: host)
        }
    }
}

extension HTTPCookie {
    /// When the object was created, in seconds.
    fileprivate var created: Double { properties?[HTTPCookiePropertyKey("Created")] as? Double ?? 0 }
}

extension Cookie {
    /// Converts a cookie of a storage. A leading dot means that subdomains get the cookie, too.
    init(_ cookie: HTTPCookie) {
        let isHostOnly = !cookie.domain.hasPrefix(".")
        self.init(
            name: cookie.name, value: cookie.value,
            domain: (isHostOnly ? cookie.domain : String(cookie.domain.dropFirst())).lowercased(),
            isHostOnly: isHostOnly, path: cookie.path, isSecure: cookie.isSecure, isHTTPOnly: cookie.isHTTPOnly,
            expires: cookie.expiresDate)
    }

    /// The cookie as an object for a storage. Nil if Foundation refuses it.
    var object: HTTPCookie? {
        var properties: [HTTPCookiePropertyKey: Any] = [
            .name: name, .value: value, .domain: isHostOnly ? domain : "." + domain, .path: path,
        ]
        if isSecure { properties[.secure] = "TRUE" }
        if isHTTPOnly { properties[HTTPCookiePropertyKey("HttpOnly")] = "TRUE" }
        if let expires { properties[.expires] = expires }
        return HTTPCookie(properties: properties)
    }
}
