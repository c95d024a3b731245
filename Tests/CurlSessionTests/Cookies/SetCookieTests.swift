import Foundation
import FoundationNetworking
import TestSupport
import TestTraits
import Testing

@testable import CurlSession

@Suite(.bounded) struct SetCookieTests {
    /// A response from `from` with `lines`; the `Cookie` line of a request for `to` afterwards.
    struct Case: Sendable, CustomTestStringConvertible {
        var from: String
        var lines: [String]
        var to: String
        var header: String?
        var testDescription: String { "\(from) \(lines) \(to)" }

        init(_ from: String, _ lines: String..., to: String, _ header: String?) {
            (self.from, self.lines, self.to, self.header) = (from, lines, to, header)
        }
    }

    static let cases = [
        // Domains
        Case("http://a.test/", "a=1", to: "http://a.test/x?y", "a=1"),
        Case("http://a.test/", "a=1", to: "http://b.a.test/", nil),
        Case("http://a.test/", "a=1; Domain=a.test", to: "http://b.a.test/", "a=1"),
        Case("http://a.test/", "a=1; domain=.A.Test", to: "http://B.a.test:8080/", "a=1"),
        Case("http://b.a.test/", "a=1; Domain=a.test", to: "http://a.test/", "a=1"),
        Case("http://a.test/", "a=1; Domain=b.a.test", to: "http://b.a.test/", nil),
        Case("http://xa.test/", "a=1; Domain=a.test", to: "http://a.test/", nil),
        Case("http://a.test/", "a=1; Domain=", to: "http://a.test/", "a=1"),
        Case("http://a.test/", "a=1; Domain=b.test; Domain=a.test", to: "http://x.a.test/", "a=1"),
        Case("http://a.test/", "a=1; Domain=test", to: "http://b.test/", nil),
        Case("http://a.test/", "a=1; Domain=test", to: "http://a.test/", nil),
        Case("http://localhost/", "a=1; Domain=localhost", to: "http://localhost/", "a=1"),
        Case("http://localhost/", "a=1; Domain=localhost", to: "http://x.localhost/", nil),
        Case("http://shop.co.uk/", "a=1; Domain=co.uk", to: "http://shop.co.uk/", nil),
        Case("http://shop.co.uk./", "a=1; Domain=co.uk.", to: "http://other.co.uk./", nil),
        Case("http://shop.test./", "a=1; Domain=test.", to: "http://other.test./", nil),
        Case("http://x.a.test./", "a=1; Domain=a.test.", to: "http://a.test./", "a=1"),
        Case("http://127.0.0.1/", "a=1; Domain=0.1", to: "http://127.0.0.1/", nil),
        Case("http://127.0.0.1/", "a=1; Domain=0.1", to: "http://9.9.0.1/", nil),
        Case("http://127.0.0.1/", "a=1; Domain=127.0.0.1", to: "http://127.0.0.1/", "a=1"),
        Case("http://127.0.0.1/", "a=1; Domain=127.0.0.1", to: "http://x.127.0.0.1/", nil),
        Case("http://[::1]/", "a=1", to: "http://[::1]/", "a=1"),
        Case("http://[::1]/", "a=1; Domain=:1", to: "http://[::1]/", nil),
        // Paths
        Case("http://a.test/x/y", "a=1", to: "http://a.test/x/z", "a=1"),
        Case("http://a.test/x/y", "a=1", to: "http://a.test/xy", nil),
        Case("http://a.test/x", "a=1; Path=/x", to: "http://a.test/x", "a=1"),
        Case("http://a.test/x", "a=1; Path=/x", to: "http://a.test/x/y", "a=1"),
        Case("http://a.test/x", "a=1; Path=/x", to: "http://a.test/xy", nil),
        Case("http://a.test/x", "a=1; Path=/x/", to: "http://a.test/x", nil),
        Case("http://a.test/x/y", "a=1; Path=x", to: "http://a.test/x/z", "a=1"),
        Case("http://a.test", "a=1", to: "http://a.test", "a=1"),
        Case(
            "http://a.test/x/y", "a=1; Path=/", "b=2", "c=3; Path=/x/y", "d=4; Path=/", to: "http://a.test/x/y",
            "c=3; b=2; a=1; d=4"),
        Case(
            "http://a.test/", "a=1; Path=/", "b=2; Path=/", "a=3; Path=/", to: "http://a.test/", "a=3; b=2"),
        // Secure
        Case("https://a.test/", "a=1; Secure", to: "https://a.test/", "a=1"),
        Case("https://a.test/", "a=1; Secure", to: "http://a.test/", nil),
        Case("http://a.test/", "a=1; Secure", to: "https://a.test/", nil),
        Case("https://a.test/", "__Secure-a=1", to: "https://a.test/", nil),
        Case("https://a.test/", "__Secure-a=1; Secure", to: "https://a.test/", "__Secure-a=1"),
        Case("https://a.test/", "__SECURE-a=1", to: "https://a.test/", nil),
        Case("https://a.test/", "__Host-a=1; Secure; Path=/", to: "https://a.test/", "__Host-a=1"),
        Case("https://a.test/", "__Host-a=1; Secure", to: "https://a.test/", nil),
        Case("https://a.test/", "__Host-a=1; Secure; Path=/; Domain=a.test", to: "https://a.test/", nil),
        Case("https://a.test/", "__Host-a=1; Path=/", to: "https://a.test/", nil),
        Case("https://a.test/", "=__Host-a=1; Secure; Path=/", to: "https://a.test/", nil),
        // Lifetime
        Case("http://a.test/", "a=1; Max-Age=0", to: "http://a.test/", nil),
        Case("http://a.test/", "a=1; Max-Age=-5", to: "http://a.test/", nil),
        Case("http://a.test/", "a=1", "a=2; Max-Age=0", to: "http://a.test/", nil),
        Case("http://a.test/", "a=1; Max-Age=9; Expires=Thu, 01 Jan 1970 00:00:00 GMT", to: "http://a.test/", "a=1"),
        Case("http://a.test/", "a=1; Max-Age=0; Expires=Fri, 01 Jan 2100 00:00:00 GMT", to: "http://a.test/", nil),
        Case("http://a.test/", "a=1; Max-Age=-", to: "http://a.test/", "a=1"),
        Case("http://a.test/", "a=1; Max-Age=x", to: "http://a.test/", "a=1"),
        Case("http://a.test/", "a=1; Max-Age=+5; Expires=never", to: "http://a.test/", "a=1"),
        Case("http://a.test/", "a=1; Max-Age=99999999999999999999999", to: "http://a.test/", "a=1"),
        Case("http://a.test/", "a=1; Max-Age=-99999999999999999999999", to: "http://a.test/", nil),
        Case("http://a.test/", "a=1; Expires=Thu, 01 Jan 1970 00:00:00 GMT", to: "http://a.test/", nil),
        // Texts
        Case("http://a.test/", "a", to: "http://a.test/", "a"),
        Case("http://a.test/", "=a", to: "http://a.test/", "a"),
        Case("http://a.test/", "=", to: "http://a.test/", nil),
        Case("http://a.test/", "", ";", " ; Secure", to: "http://a.test/", nil),
        Case("http://a.test/", " a = \"b c\" ;;; ", to: "http://a.test/", "a=\"b c\""),
        Case("http://a.test/", "a=b=c", to: "http://a.test/", "a=b=c"),
        Case("http://a.test/", "a=1\u{1}", "b=\u{7F}", to: "http://a.test/", nil),
        Case("http://a.test/", "a=😀", "e\u{301}=e\u{301}", to: "http://a.test/", "a=😀; e\u{301}=e\u{301}"),
        Case("http://a.test/", "a=1; Path=/😀; 😀=x; Domain=e\u{301}", to: "http://a.test/", nil),
        Case(
            "http://a.test/", "a=" + String(repeating: "x", count: 4095), "b=1", to: "http://a.test/",
            "a=" + String(repeating: "x", count: 4095) + "; b=1"),
        Case("http://a.test/", "a=" + String(repeating: "x", count: 4096), to: "http://a.test/", nil),
        Case("http://a.test/", "a=1; Path=/" + String(repeating: "x", count: 1024), to: "http://a.test/", "a=1"),
    ]

    static let now = Date(timeIntervalSince1970: 1_800_000_000)

    @Test(arguments: cases) func `cookies go where RFC 6265bis says`(_ item: Case) throws {
        var table = CookieTable()
        table.store(item.lines, from: try target(item.from), at: Self.now)
        #expect(table.header(for: try target(item.to), at: Self.now) == item.header)
    }

    @Test func `an insecure origin neither replaces nor hides nor removes a secure cookie`() throws {
        var table = CookieTable()
        table.store(["a=1; Secure; Path=/x; Domain=a.test"], from: try target("https://a.test/"), at: Self.now)
        for line in ["a=2; Path=/x; Domain=a.test", "a=2; Path=/x/y", "a=2; Max-Age=0; Path=/x; Domain=a.test"] {
            table.store([line], from: try target("http://a.test/"), at: Self.now)
        }
        table.store(["a=2; Path=/x"], from: try target("http://b.a.test/"), at: Self.now)
        #expect(table.header(for: try target("https://a.test/x/y"), at: Self.now) == "a=1")
        #expect(table.header(for: try target("https://b.a.test/x/y"), at: Self.now) == "a=1")
        table.store(["a=3; Path=/", "b=4; Path=/x"], from: try target("http://a.test/"), at: Self.now)
        #expect(table.header(for: try target("https://a.test/x"), at: Self.now) == "a=1; b=4; a=3")
    }

    @Test func `cookies expire, after 400 days at the latest`() throws {
        let (from, day) = (try target("http://a.test/"), 86_400.0)
        var table = CookieTable()
        table.store(
            ["a=1; Max-Age=60", "b=2; Expires=Fri, 01-Jan-2100 00:00:00 GMT", "c=3"], from: from, at: Self.now)
        #expect(table.header(for: from, at: Self.now + 59) == "a=1; b=2; c=3")
        #expect(table.header(for: from, at: Self.now + 60) == "b=2; c=3")
        #expect(table.header(for: from, at: Self.now + 400 * day - 1) == "b=2; c=3")
        #expect(table.header(for: from, at: Self.now + 400 * day) == "c=3")
    }

    @Test func `a domain keeps 180 cookies, all keep 3,000; what was used last stays`() throws {
        var table = CookieTable()
        let from = try target("http://a.test/x/")
        table.store(["kept=1"], from: from, at: Self.now)
        for part in 0..<30 {
            table.store((0..<100).map { "c\(part * 100 + $0)=1; Path=/y" }, from: from, at: Self.now)
            #expect(table.header(for: from, at: Self.now) == "kept=1")
        }
        let header = table.header(for: try target("http://a.test/y"), at: Self.now) ?? ""
        #expect(header.split(separator: "; ").count == 179)
        #expect(header.hasPrefix("c2821=1; ") && header.hasSuffix("; c2999=1"))
        for domain in 0..<40 {
            table.store((0..<100).map { "c\($0)=1" }, from: try target("http://d\(domain).test/"), at: Self.now)
        }
        let counts = try (0..<40).map { domain in
            table.header(for: try target("http://d\(domain).test/"), at: Self.now)?.split(separator: ";").count ?? 0
        }
        #expect(counts.reduce(0, +) == 3000)
        #expect(counts.last == 100)
    }

    @Test(arguments: [
        ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777.0), ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
        ("Sun Nov  6 08:49:37 1994", 784_111_777), ("6 nOVEMBERish 1994 8:49:37x", 784_111_777),
        ("08:49:37 06 Nov 94", 784_111_777), ("Thu, 01-Jan-1970 00:00:00 GMT", 0), ("1 Mar 2000 0:0:0", 951_868_800),
        ("29 Feb 2024 23:59:59", 1_709_251_199), ("1 Jan 69 00:00:00", 3_124_224_000),
        ("31 Dec 9999 23:59:59", 253_402_300_799),
        ("1 Jan 1601 00:00:00", -11_644_473_600),
    ]) func `dates are read by the algorithm of the RFC`(text: String, seconds: Double) {
        #expect(CookieDate.parse(text)?.timeIntervalSince1970 == seconds)
    }

    @Test(arguments: [
        "", "never", "29 Feb 2023 00:00:00", "31 Apr 2024 00:00:00", "0 Jan 2024 00:00:00", "1 Jan 2024 24:00:00",
        "1 Jan 2024 00:60:00",
        "1 Jan 2024 00:00:60", "1 Jan 1600 00:00:00", "1 Jan 2024", "Jan 2024 00:00:00", "1 2024 00:00:00",
        "1 Jan 00:00:00",
        "1 Jan 20240 00:00:00", "1 Jan 2024 000:00:00", "1 Jan 2024 00:00", "1 😀 2024 00:00:00",
        "999999999999999999999 Jan 2024 0:0:0",
    ]) func `what is not a date is none`(text: String) {
        #expect(CookieDate.parse(text) == nil)
    }

    @Test func `mutations of lines never trap`() throws {
        var mutator = ByteMutator(seed: 16)
        for item in Self.cases {
            for _ in 0..<50 {
                var table = CookieTable()
                let lines = item.lines.map { String(decoding: mutator.corrupted(Array($0.utf8)), as: UTF8.self) }
                table.store(lines, from: try target(item.from), at: Self.now)
                _ = table.header(for: try target(item.to), at: Self.now)
            }
        }
    }

    private func target(_ text: String) throws -> CookieTarget {
        try #require(URL(string: text).flatMap(CookieTarget.init))
    }
}
