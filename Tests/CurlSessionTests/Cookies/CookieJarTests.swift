import Dispatch
import Foundation
import FoundationNetworking
import TestTraits
import Testing

@testable import CurlSession

@Suite(.bounded) struct CookieJarTests {
    private let now = Date(timeIntervalSince1970: 1_800_000_000)
    private let url = URL(string: "http://a.test/x/y") ?? URL(fileURLWithPath: "/")

    @Test func `cookies of responses are in a storage without a file at once`() throws {
        let (jar, storage) = try jar()
        jar.store(["a=1; Max-Age=50; HttpOnly", "b=2; Domain=a.test"], from: url, at: Date(), policy: .always)
        let cookies = (storage.cookies ?? []).sorted { $0.name < $1.name }
        #expect(cookies.map(\.name) == ["a", "b"])
        #expect(cookies.map(\.domain) == ["a.test", ".a.test"])
        #expect(cookies.map(\.isHTTPOnly) == [true, false])
        #expect(cookies[0].expiresDate != nil && cookies[1].expiresDate == nil)
        jar.store(["a=; Max-Age=0"], from: url, at: Date(), policy: .always)
        #expect(storage.cookies?.map(\.name) == ["b"])
    }

    @Test func `what the app sets, replaces and deletes in the storage is seen by the next request`() throws {
        let (jar, storage) = try jar()
        #expect(jar.header(for: url, at: now) == nil)
        storage.setCookie(try cookie("app", "1"))
        #expect(jar.header(for: url, at: now) == "app=1")
        jar.store(["app=2; Path=/", "mine=1; Path=/"], from: url, at: now, policy: .always)
        #expect(jar.header(for: url, at: now) == "app=2; mine=1")
        storage.setCookie(try cookie("app", "3"))
        #expect(jar.header(for: url, at: now) == "app=3; mine=1")
        storage.deleteCookie(try cookie("app", ""))
        #expect(jar.header(for: url, at: now) == "mine=1")
        storage.removeCookies(since: .distantPast)
        #expect(jar.header(for: url, at: now) == nil)
    }

    @Test func `emoji and decomposed accents reach the storage`() throws {
        let (jar, storage) = try jar()
        jar.store(["a=😀", "e\u{301}=e\u{301}; Path=/e\u{301}"], from: url, at: now, policy: .always)
        #expect(storage.cookies?.count == 2)
    }

    @Test func `only the first 500 lines of a response are read`() throws {
        let (jar, storage) = try jar()
        let lines = (1...600).map { "n\($0)=\($0)" }
        jar.store(lines, from: url, at: now, policy: .always)
        #expect(storage.cookies?.count == CookieTable.maximumPerDomain)
        #expect(storage.cookies?.contains { $0.name == "n500" } == true)
        #expect(storage.cookies?.contains { $0.name == "n501" } == false)
    }

    @Test func `policies are kept`() throws {
        let (jar, storage) = try jar()
        let other = try #require(URL(string: "http://b.test/"))
        let above = try #require(URL(string: "http://www.a.test/"))
        jar.store(["a=1"], from: url, at: now, policy: .never)
        jar.store(["b=1"], from: url, at: now, policy: .onlyFromMainDocumentDomain, mainDocument: other)
        #expect(storage.cookies?.isEmpty == true)
        jar.store(["c=1"], from: url, at: now, policy: .onlyFromMainDocumentDomain, mainDocument: above)
        jar.store(["d=1"], from: url, at: now, policy: .onlyFromMainDocumentDomain)
        storage.cookieAcceptPolicy = .never
        jar.store(["e=1"], from: url, at: now, policy: .always)
        #expect(jar.header(for: url, at: now) == "c=1; d=1")
    }

    @Test func `sessions with one storage share its jar`() throws {
        let storage = try #require(URLSessionConfiguration.ephemeral.httpCookieStorage)
        let jar = CookieJar.jar(of: storage)
        #expect(CookieJar.jar(of: storage) === jar)
        let other = try #require(URLSessionConfiguration.ephemeral.httpCookieStorage)
        #expect(CookieJar.jar(of: other) !== jar)
    }

    @Test func `no load waits while the storage writes its file`() async throws {
        let storage = SlowStorage()
        let jar = CookieJar(storage, hasFile: true)
        jar.store(["a=1; Path=/", "b=1; Path=/"], from: url, at: now, policy: .always)
        var writes = storage.writes.makeAsyncIterator()
        await writes.next()  // the jar's own queue is inside `setCookie` now
        #expect(jar.header(for: url, at: now) == "a=1; b=1")
        jar.store(["a=2; Path=/", "b=; Max-Age=0; Path=/", "c=3; Path=/"], from: url, at: now, policy: .always)
        #expect(jar.header(for: url, at: now) == "a=2; c=3")
        for _ in 0..<20 { storage.go.signal() }
        await jar.written()
        #expect(Dictionary(uniqueKeysWithValues: storage.held().map { ($0.name, $0.value) }) == ["a": "2", "c": "3"])
        #expect(jar.header(for: url, at: now) == "a=2; c=3")
    }

    @Test func `3,000 cookies in a response are written in the background, as many as are kept`() async throws {
        let storage = SlowStorage(isSlow: false)
        let jar = CookieJar(storage, hasFile: true)
        let lines = (0..<3000).map { "c\($0)=1; Expires=Fri, 01 Jan 2100 00:00:00 GMT" }
        jar.store(lines, from: url, at: now, policy: .always)
        await jar.written()
        #expect(storage.held().count == 180)
        #expect(jar.header(for: url, at: now)?.split(separator: ";").count == 180)
    }

    private func jar() throws -> (CookieJar, HTTPCookieStorage) {
        let storage = try #require(URLSessionConfiguration.ephemeral.httpCookieStorage)
        return (.jar(of: storage), storage)
    }

    private func cookie(_ name: String, _ value: String) throws -> HTTPCookie {
        try #require(HTTPCookie(properties: [.name: name, .value: value, .domain: "a.test", .path: "/"]))
    }
}

/// A storage that waits in each change, as if a disk were slow.
private final class SlowStorage: CookieStorage, @unchecked Sendable {  // `lock` protects the cookies
    /// A change begins.
    let writes: AsyncStream<Void>
    private let began: AsyncStream<Void>.Continuation
    let go = DispatchSemaphore(value: 0)
    private let isSlow: Bool
    private let lock = NSLock()
    private var all: [String: HTTPCookie] = [:]

    init(isSlow: Bool = true) {
        self.isSlow = isSlow
        (writes, began) = AsyncStream.makeStream()
    }

    let cookieAcceptPolicy = HTTPCookie.AcceptPolicy.always

    /// Reading waits for a change that is being made, as in Foundation's storage.
    var cookies: [HTTPCookie]? { held() }

    func held() -> [HTTPCookie] { lock.withLock { Array(all.values) } }

    func setCookie(_ cookie: HTTPCookie) { change { all[cookie.domain + cookie.path + cookie.name] = cookie } }

    func deleteCookie(_ cookie: HTTPCookie) { change { all[cookie.domain + cookie.path + cookie.name] = nil } }

    private func change(_ body: () -> Void) {
        lock.withLock {
            if isSlow {
                began.yield()
                go.wait()
            }
            body()
        }
    }
}
