import Foundation
import TestTraits
import Testing

@testable import CurlSession

@Suite(.bounded) struct ProxyRulesTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var environment: [String: String]
        var url: String
        var proxy: String?
        var testDescription: String { "\(environment) \(url)" }

        init(_ environment: [String: String], _ url: String, _ proxy: String?) {
            (self.environment, self.url, self.proxy) = (environment, url, proxy)
        }

        /// With a proxy for all, and exceptions.
        init(no exceptions: String, _ url: String, isExempt: Bool) {
            self.init(["all_proxy": "p.test:1", "no_proxy": exceptions], url, isExempt ? nil : "http://p.test:1")
        }
    }

    static let cases = [
        Case([:], "http://a.test/", nil),
        Case(["http_proxy": "http://p.test:3128/"], "http://a.test/", "http://p.test:3128"),
        Case(["http_proxy": "http://p.test:3128"], "https://a.test/", nil),
        Case(["HTTP_PROXY": "http://p.test:3128"], "http://a.test/", nil),
        Case(["HTTPS_PROXY": "p.test"], "https://a.test/", "http://p.test"),
        Case(["https_proxy": "p.test", "HTTPS_PROXY": "q.test"], "https://a.test/", "http://p.test"),
        Case(["ALL_PROXY": "socks5h://p.test:1080"], "https://a.test/", "socks5h://p.test:1080"),
        Case(["all_proxy": "p.test", "http_proxy": ""], "http://a.test/", "http://p.test"),
        Case(["http_proxy": "ftp://p.test"], "http://a.test/", nil),
        Case(["http_proxy": "http://"], "http://a.test/", nil),
        Case(["http_proxy": "http://[::1]:8080"], "http://a.test/", "http://[::1]:8080"),
        Case(no: "*", "http://a.test/", isExempt: true),
        Case(no: "a.test", "http://a.test/", isExempt: true),
        Case(no: "a.test", "http://x.a.test/", isExempt: true),
        Case(no: "a.test", "http://xa.test/", isExempt: false),
        Case(no: ".a.test", "http://a.test/", isExempt: true),
        Case(no: "*.a.test", "http://x.a.test/", isExempt: true),
        Case(no: " b.test ,\tA.Test", "http://a.test/", isExempt: true),
        Case(no: "b.test a.test", "http://A.test/", isExempt: true),
        Case(no: "a.test:8080", "http://a.test:8080/", isExempt: true),
        Case(no: "a.test:8080", "http://a.test/", isExempt: false),
        Case(no: "a.test:80", "http://a.test/", isExempt: true),
        Case(no: "127.0.0.1", "http://127.0.0.1:5/", isExempt: true),
        Case(no: "0.1", "http://127.0.0.1/", isExempt: true),
        Case(no: "10.0.0.0/8", "http://10.1.2.3/", isExempt: true),
        Case(no: "10.0.0.0/8", "http://11.1.2.3/", isExempt: false),
        Case(no: "10.1.128.0/17", "http://10.1.127.0/", isExempt: false),
        Case(no: "10.1.128.0/17", "http://10.1.129.0/", isExempt: true),
        Case(no: "10.0.0.0/33", "http://10.1.2.3/", isExempt: false),
        Case(no: "0.0.0.0/0", "http://9.9.9.9/", isExempt: true),
        Case(no: "::1", "http://[::1]/", isExempt: true),
        Case(no: "[::1]", "http://[0::1]/", isExempt: true),
        Case(no: "fd00::/8", "http://[fd12::1]/", isExempt: true),
        Case(no: "fd00::/8", "http://[fe12::1]/", isExempt: false),
        Case(no: ", . ,*.", "http://a.test/", isExempt: false),
    ]

    @Test(arguments: cases) func `the environment decides as it does for curl`(_ item: Case) throws {
        let rules = ProxyRules(dictionary: nil, environment: item.environment)
        #expect(rules.proxy(for: try #require(URL(string: item.url)))?.url == item.proxy)
    }

    @Test func `a dictionary decides alone`() throws {
        let environment = ["http_proxy": "http://p.test"]
        let (url, secure) = (try #require(URL(string: "http://a.test/")), try #require(URL(string: "https://a.test/")))
        #expect(ProxyRules(dictionary: [:], environment: environment).proxy(for: url) == nil)
        let rules = ProxyRules(
            dictionary: [
                "HTTPEnable": 1, "HTTPProxy": "h.test", "HTTPPort": 81, "HTTPSEnable": true, "HTTPSProxy": "::1",
                "HTTPSPort": 82,
                "ExceptionsList": ["*.b.test", "10.0.0.0/8"], "ExcludeSimpleHostnames": 1, "kCFProxyUsernameKey": "u",
                "kCFProxyPasswordKey": "p",
            ], environment: environment)
        #expect(rules.proxy(for: url) == ProxyRules.Proxy("http://u:p@h.test:81"))
        #expect(rules.proxy(for: secure)?.url == "http://[::1]:82")
        for exempt in ["http://x.b.test/", "http://10.1.1.1/", "http://intranet/"] {
            #expect(rules.proxy(for: try #require(URL(string: exempt))) == nil)
        }
        let off = ProxyRules(
            dictionary: ["HTTPEnable": 0, "HTTPProxy": "h.test", "SOCKSEnable": 1, "SOCKSProxy": "s.test"],
            environment: [:])
        #expect(off.proxy(for: url)?.url == "socks5h://s.test")
    }

    @Test func `a proxy's credential is no part of its address`() {
        let proxy = ProxyRules.Proxy("http://us%40er:p:w@p.test:3128")
        #expect(proxy?.url == "http://p.test:3128")
        #expect(proxy?.user == "us@er")
        #expect(proxy?.password == "p:w")
    }
}
