import Foundation
import FoundationNetworking
import TestTraits
import Testing

@testable import CurlSession

@Suite(.bounded) struct ChallengeTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var lines: [String]
        var expected: String
        var testDescription: String { "\(lines)" }

        init(_ lines: String..., expected: String) {
            (self.lines, self.expected) = (lines, expected)
        }
    }

    static let cases = [
        Case("Basic", expected: "basic()"),
        Case("Basic realm=\"a b\"", expected: "basic(realm=a b)"),
        Case("BASIC Realm = x , charset=\"UTF-8\"", expected: "basic(charset=UTF-8,realm=x)"),
        Case("Basic realm=\"a \\\"b\\\" \\\\, Digest x=y\"", expected: "basic(realm=a \"b\" \\, Digest x=y)"),
        Case(
            "Basic realm=\"x\", Digest realm=\"y\", nonce=\"n\", qop=\"auth,auth-int\", Negotiate",
            expected: "basic(realm=x) digest(nonce=n,qop=auth,auth-int,realm=y) negotiate()"),
        Case("Negotiate dG9r+/ZW4==, Basic realm=x", expected: "negotiate() basic(realm=x)"),
        Case("NTLM abc, Basic realm=x", expected: "ntlm() basic(realm=x)"),
        Case("Bearer basic", expected: "bearer()"),
        Case("Basic realm=\"a\", realm=\"b\"", expected: "basic(realm=a)"),
        Case("Digest nonce=\"n\"", "Basic realm=x", expected: "digest(nonce=n) basic(realm=x)"),
        Case(",, ,Basic ,realm=x,,", expected: "basic(realm=x)"),
        Case("realm=x, Basic", expected: "basic()"),
        Case("Basic realm=\"open", expected: "basic(realm=open)"),
        Case("Basic realm=\"open\\", expected: "basic(realm=open\\)"),
        Case("Basic realm=", "@@@, Digest a=b", "=\"\"", "", expected: "basic() digest(a=b)"),
        Case("Basic realm=\"Grüße\"", expected: "basic(realm=Grüße)"),
    ]

    @Test(arguments: cases) func `challenges are found in lines, whatever they hold`(_ item: Case) {
        let found = Challenge.parse(item.lines).map { challenge in
            let parameters = challenge.parameters.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
            return "\(challenge.scheme)(\(parameters.joined(separator: ",")))"
        }
        #expect(found.joined(separator: " ") == item.expected)
    }

    @Test func `mutations of challenges never trap`() {
        var mutator = ByteMutator(seed: 17)
        for item in Self.cases {
            for _ in 0..<300 {
                let lines = item.lines.map { String(decoding: mutator.corrupted(Array($0.utf8)), as: UTF8.self) }
                for scheme in AuthenticationScheme.schemes(in: Challenge.parse(lines)) {
                    _ = scheme.answer(user: "u", password: "p", method: "GET", target: "/", nonce: "n")
                }
            }
        }
    }

    @Test func `Digest is chosen over Basic, SHA-256 over MD5, and what cannot be answered not at all`() {
        let line = """
            Basic realm="b", Digest realm="m", nonce="n", Digest realm="s", nonce="n", algorithm=SHA-256, \
            Digest realm="i", nonce="n", qop="auth-int", Digest realm="x", nonce="n", algorithm=SHA-512-256, Digest realm="y", Bearer
            """
        #expect(AuthenticationScheme.schemes(in: Challenge.parse([line])).map(\.realm) == ["s", "m", "b"])
    }

    @Test func `the hashes are those of the standards`() {
        let empty: [UInt8] = []
        #expect(Hashing.md5(empty) == "d41d8cd98f00b204e9800998ecf8427e")
        #expect(Hashing.md5(Array("message digest".utf8)) == "f96b697d7cb7938d525a2f31aaf161d0")
        #expect(
            Hashing.md5(Array(String(repeating: "1234567890", count: 8).utf8)) == "57edf4a22be3c955ac49da2e2107b67a")
        #expect(Hashing.sha256(empty) == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
        #expect(
            Hashing.sha256(Array("abc".utf8)) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
        #expect(
            Hashing.sha256(Array("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq".utf8))
                == "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1")
    }

    /// The examples of RFC 7616 §3.9.1.
    @Test(arguments: [
        ("MD5", "8ca523f5e9506fed4657c9700eebdbec"),
        ("SHA-256", "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1"),
    ]) func `answers are those of RFC 7616`(algorithm: String, response: String) throws {
        let line = """
            Digest realm="http-auth@example.org", qop="auth, auth-int", algorithm=\(algorithm), \
            nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS"
            """
        let scheme = try #require(AuthenticationScheme.schemes(in: Challenge.parse([line])).first)
        let answer = scheme.answer(
            user: "Mufasa", password: "Circle of Life", method: "GET", target: "/dir/index.html",
            nonce: "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ")
        #expect(answer.contains("response=\"\(response)\""))
        #expect(answer.hasPrefix("Digest username=\"Mufasa\", realm=\"http-auth@example.org\", nonce=\"7ypf"))
        #expect(answer.contains(", algorithm=\(algorithm), qop=auth, nc=00000001, cnonce=\"f2/w"))
    }

    /// The example of RFC 2069, with the correction of its erratum.
    @Test func `Digest without a quality is that of RFC 2069`() throws {
        let line = "Digest realm=\"testrealm@host.com\", nonce=\"dcd98b7102dd2f0e8b11d0f600bfb0c093\""
        let scheme = try #require(AuthenticationScheme.schemes(in: Challenge.parse([line])).first)
        let answer = scheme.answer(
            user: "Mufasa", password: "CircleOfLife", method: "GET", target: "/dir/index.html", nonce: "x")
        #expect(answer.contains("response=\"1949323746fe6a43ef61f9606e7febea\""))
        #expect(!answer.contains("cnonce") && !answer.contains("algorithm"))
    }

    @Test func `quotes in names are escaped, and Basic is UTF-8`() throws {
        let digest = try #require(
            AuthenticationScheme.schemes(in: Challenge.parse(["Digest realm=\"a\\\"b\", nonce=n"])).first)
        let answer = digest.answer(user: "u\"\\", password: "", method: "GET", target: "/", nonce: "")
        #expect(answer.hasPrefix("Digest username=\"u\\\"\\\\\", realm=\"a\\\"b\", nonce=\"n\""))
        let basic = AuthenticationScheme.basic(realm: "")
        #expect(
            basic.answer(user: "test", password: "123£", method: "GET", target: "/", nonce: "")
                == "Basic dGVzdDoxMjPCow==")
    }
}

@Suite(.bounded) struct AuthenticationFlowTests {
    private let both = Challenge.parse(["Basic realm=\"r\", Digest realm=\"r\", nonce=\"n\""])
    private let one = AuthenticationFlow.Credential(user: "u", password: "1")
    private let two = AuthenticationFlow.Credential(user: "u", password: "2")

    @Test func `without a credential the response is delivered`() throws {
        var flow = AuthenticationFlow()
        #expect(flow.received(Challenge.parse(["Negotiate, Bearer"])) == .deliver)
        #expect(flow.received([]) == .deliver)
        let schemes = AuthenticationScheme.schemes(in: both)
        #expect(flow.received(both) == .ask(schemes[0], previousFailures: 0))
        #expect(flow.decided(.performDefault, proposed: nil) == .deliver)
        #expect(flow.decided(.use(nil), proposed: one) == .deliver)
        #expect(flow.decided(.cancel, proposed: one) == .cancel)
    }

    @Test func `a credential is sent once; failures are counted; a stored one is not tried twice`() {
        let schemes = AuthenticationScheme.schemes(in: both)
        var flow = AuthenticationFlow()
        _ = flow.received(both)
        #expect(flow.decided(.performDefault, proposed: one) == .send(schemes[0], one))
        #expect(flow.received(both) == .ask(schemes[0], previousFailures: 1))
        #expect(flow.decided(.performDefault, proposed: one) == .deliver)
        #expect(flow.decided(.use(two), proposed: one) == .send(schemes[0], two))
        #expect(flow.received(both) == .ask(schemes[0], previousFailures: 2))
    }

    @Test func `a rejected scheme gives way to the next weaker one`() {
        let schemes = AuthenticationScheme.schemes(in: both)
        var flow = AuthenticationFlow()
        _ = flow.received(both)
        #expect(flow.decided(.reject, proposed: nil) == .ask(schemes[1], previousFailures: 0))
        #expect(flow.decided(.reject, proposed: nil) == .deliver)
    }

    @Test func `an old nonce is replaced without asking, and nothing goes on for ever`() throws {
        let stale = Challenge.parse(["Digest realm=\"r\", nonce=\"m\", stale=TRUE"])
        let scheme = try #require(AuthenticationScheme.schemes(in: stale).first)
        var flow = AuthenticationFlow()
        _ = flow.received(both)
        _ = flow.decided(.use(one), proposed: nil)
        for _ in 1..<AuthenticationFlow.limit { #expect(flow.received(stale) == .send(scheme, one)) }
        #expect(flow.received(stale) == .deliver)
    }

    @Test func `protection spaces name the origin`() throws {
        let scheme = AuthenticationScheme.basic(realm: "r")
        let space = scheme.space(of: try #require(URL(string: "https://A.test/x")))
        #expect((space.host, space.port, space.protocol, space.realm) == ("a.test", 443, "https", "r"))
        #expect(space.authenticationMethod == NSURLAuthenticationMethodHTTPBasic)
        let proxy = scheme.space(of: try #require(ProxyRules.Proxy("http://p.test:3128")))
        #expect((proxy.host, proxy.port, proxy.isProxy()) == ("p.test", 3128, true))
    }
}
