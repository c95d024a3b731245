import TestTraits
import Testing

@testable import CurlSession

/// What counts of a proxy's responses to CONNECT.
@Suite(.bounded) struct TunnelHeadTests {
    private static let connect = "CONNECT a.test:443 HTTP/1.1\r\nHost: a.test:443\r\n\r\n"
    private static let refusal = "HTTP/1.1 407 No\r\nProxy-Authenticate: Basic realm=\"p\"\r\n\r\n"

    /// What is sent (`>`) and received (`<`), and the challenges after that.
    static let cases: [(String, [(direction: Character, text: String)], [String]?)] = [
        ("a refusal", [(">", connect), ("<", refusal)], ["Basic realm=\"p\""]),
        (
            "several challenges, and other fields",
            [
                (">", connect),
                (
                    "<",
                    "HTTP/1.0 407\r\nSet-Cookie: a=b\r\nproxy-authenticate: Basic\r\nWWW-Authenticate: Basic\r\n"
                        + "Proxy-Authenticate:\tDigest realm=\"p\",\r\n nonce=\"n\" \r\nLocation: /\r\n\r\n"
                ),
            ], ["Basic", "Digest realm=\"p\", nonce=\"n\""]
        ),
        ("a refusal without a challenge", [(">", connect), ("<", "HTTP/1.1 407 No\n\n")], []),
        ("an incomplete refusal", [(">", connect), ("<", String(refusal.dropLast(2)))], nil),
        ("another refusal", [(">", connect), ("<", "HTTP/1.1 403 No\r\nProxy-Authenticate: Basic\r\n\r\n")], nil),
        ("a refusal, and then a tunnel", [(">", connect), ("<", refusal), (">", connect)], nil),
        (
            "a refusal, and its body", [(">", connect), ("<", refusal + "HTTP/1.1 407 No\r\n\r\n")],
            ["Basic realm=\"p\""]
        ),
        ("the server's refusal", [(">", "GET / HTTP/1.1\r\n\r\n"), ("<", refusal)], nil),
        ("the server's refusal of a CONNECT", [(">", "CONNECT / HTTP/1.1\r\n\r\n"), ("<", refusal)], nil),
        (
            "the server's refusal in a tunnel",
            [(">", connect), ("<", "HTTP/1.1 200 Yes\r\n\r\n"), (">", "GET / HTTP/1.1\r\n\r\n"), ("<", refusal)], nil
        ),
        ("a status in a field", [(">", connect), ("<", "HTTP/1.1 403 No\r\nHTTP/1.1 407 No\r\n\r\n")], nil),
        ("no status", [(">", connect), ("<", "407\r\nProxy-Authenticate: Basic\r\n\r\n")], nil),
        ("a NUL", [(">", connect), ("<", "HTTP/1.1 407 No\r\nX: \0\r\nProxy-Authenticate: Basic\r\n\r\n")], nil),
        (
            "a head that is too large",
            [(">", connect), ("<", "HTTP/1.1 407 No\r\n" + String(repeating: "X: y\r\n", count: 50_000) + "\r\n")], nil
        ),
    ]

    @Test(arguments: cases)
    func `only the challenges of a complete 407 to CONNECT count`(
        name: String, steps: [(direction: Character, text: String)], challenges: [String]?
    ) {
        var head = TunnelHead()
        var completed = 0
        for (direction, text) in steps {
            guard direction == "<" else {
                Array(text.utf8).withUnsafeBytes { head.sent($0) }
                continue
            }
            for line in text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).dropLast() {
                completed += (Array(line) + [UInt8(ascii: "\n")]).withUnsafeBytes { head.received($0) } ? 1 : 0
            }
        }
        #expect(head.challenges?.map(\.value) == challenges, "\(name)")
        #expect(completed == (challenges == nil && name != "a refusal, and then a tunnel" ? 0 : 1), "\(name)")
    }
}
