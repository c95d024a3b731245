import Foundation
import HTTPCaching
import SQLiteCache
import TestSupport
import TestTraits
import Testing

@testable import ValkeyCache

@Suite("Values on the server", .bounded)
struct CodingTests {
    static let url = "https://example.com/feed?x=1"

    static func entry(
        _ fields: [(String, String)] = [("Cache-Control", "max-age=60"), ("Vary", "Accept")],
        place: SharedEntry.Place = .server, part: StoredResponse.Part? = nil, seconds: Double = 1_800_000_000
    ) -> SharedEntry {
        var response = StoredResponse(
            url: url, method: "GET", selectingFields: HTTPFields([("Accept", "a")]), status: part == nil ? 200 : 206,
            fields: HTTPFields(fields), requestTime: Date(timeIntervalSince1970: seconds),
            responseTime: Date(timeIntervalSince1970: seconds + 1), part: part)
        response.injectedCacheControl = "max-age=3"
        return SharedEntry(
            StoredRecord(response), id: 77, revision: 1 << 62, body: StoredBody(Data("body".utf8)), place: place)
    }

    @Test("decode to what was encoded", arguments: [SharedEntry.Place.server, .local, .memory])
    func roundTrip(_ place: SharedEntry.Place) throws {
        let entry = Self.entry(place: place)
        let decoded = try #require(SharedEntry(entry.encoded, url: Self.url, variant: entry.variant))
        #expect(decoded.id == 77 && decoded.revision == 1 << 62 && decoded.place == place)
        #expect(decoded.response == entry.response)
        #expect(decoded.isBody(Data("body".utf8)))
        #expect(!decoded.isBody(Data("bodY".utf8)) && !decoded.isBody(Data("bod".utf8)) && !decoded.isBody(Data()))
        #expect(decoded.encoded == entry.encoded)
    }

    @Test("of another URL or variant are refused")
    func misplaced() {
        let entry = Self.entry()
        #expect(SharedEntry(entry.encoded, url: Self.url + "2", variant: entry.variant) == nil)
        #expect(SharedEntry(entry.encoded, url: Self.url, variant: SharedEntry.variant(1)) == nil)
    }

    @Test("50,000 mutated values are refused, or decode to the same response")
    func mutations() {
        let entry = Self.entry()
        let original = [UInt8](entry.encoded)
        var random = SeededGenerator(seed: 19)
        for _ in 0..<50_000 {
            var bytes = original
            switch Int.random(in: 0..<4, using: &random) {
            case 0:
                bytes[Int.random(in: 0..<bytes.count, using: &random)] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            case 1: bytes.removeLast(Int.random(in: 1...bytes.count, using: &random))
            case 2:
                bytes.insert(
                    UInt8.random(in: 0...255, using: &random), at: Int.random(in: 0...bytes.count, using: &random))
            default:
                for _ in 0..<8 {
                    bytes[Int.random(in: 0..<bytes.count, using: &random)] = .random(in: 0...255, using: &random)
                }
            }
            guard let decoded = SharedEntry(Data(bytes), url: Self.url, variant: entry.variant) else { continue }
            #expect(bytes == original && decoded.response == entry.response)
        }
    }

    private static let partFields = [
        ("Cache-Control", "max-age=60"), ("Vary", "Accept"), ("ETag", "\"1\""), ("Content-Range", "bytes 0-3/10"),
    ]

    /// An entry with other bytes between its first and its checksum, and the checksum that fits; nil if it is refused.
    private func forge(_ entry: SharedEntry, _ change: (inout [UInt8]) -> Void) -> SharedEntry? {
        var bytes = [UInt8](entry.encoded.dropLast(8))
        change(&bytes)
        let sum = bytes.withUnsafeBytes { Checksum64.of($0) }
        withUnsafeBytes(of: sum.littleEndian) { bytes += $0 }
        return SharedEntry(Data(bytes), url: Self.url, variant: entry.variant)
    }

    /// Does what loads do with an entry that they find.
    private func decide(about entry: SharedEntry) {
        let now = Date(timeIntervalSince1970: 1_800_000_100)
        let candidate = Candidate(entry.response, bodySize: entry.bodySize)
        for range in [nil, "bytes=1-2", "bytes=-2", "bytes=1-", "bytes=9223372036854775806-9223372036854775807"] {
            var fields = HTTPFields([("Accept", "a")])
            if let range { fields["Range"] = range }
            for policy in [CachePolicy.useProtocol, .returnCacheElseLoad] {
                let request = CacheRequest(url: Self.url, fields: fields, policy: policy)
                let decision = CacheRules().decision(for: request, among: [candidate], at: now)
                switch decision {
                case .reuse(let selection), .reuseWhileRevalidating(let selection, _):
                    _ = selection.head(of: entry.response)
                default: break
                }
            }
        }
        let rest = HTTPFields([("ETag", "\"1\""), ("Content-Range", "bytes 4-5/10")])
        _ = CacheRules.combination(of: candidate, with: 206, fields: rest, bodySize: 2)
        _ = SharedLifetime.milliseconds(of: entry.response, at: now, staleRetention: 60)
        _ = entry.updated(to: entry.response, revision: 1)?.encoded
    }

    @Test("with a correct checksum and any record are refused, or are of this URL, and loads can decide about them")
    func forged() {
        let entries = [
            Self.entry(), Self.entry(Self.partFields, part: .init(range: 0..<4, completeLength: 10)),
            Self.entry(Self.partFields, part: .init(range: 0..<4, completeLength: nil)),
        ]
        for entry in entries {
            decide(about: entry)
            var random = SeededGenerator(seed: 20)
            for _ in 0..<2000 {
                let decoded = forge(entry) { bytes in
                    for _ in 0..<Int.random(in: 1...4, using: &random) {
                        bytes[Int.random(in: 0..<bytes.count, using: &random)] = .random(in: 0...255, using: &random)
                    }
                }
                guard let decoded else { continue }
                #expect(decoded.response.url == Self.url && decoded.bodySize >= 0 && decoded.id >= 0)
                decide(about: decoded)
            }
        }
    }

    private static let impossibleParts: [StoredResponse.Part] = [
        .init(range: Int.min..<Int.max, completeLength: nil), .init(range: Int.min..<0, completeLength: nil),
        .init(range: -1..<4, completeLength: 10), .init(range: 0..<4, completeLength: 3),
        .init(range: 0..<4, completeLength: -1), .init(range: 0..<Int.max, completeLength: Int.min),
    ]

    @Test("with a part that no representation has are refused", arguments: impossibleParts.indices)
    func wrongParts(_ index: Int) {
        let entry = Self.entry(Self.partFields, part: Self.impossibleParts[index])
        #expect(SharedEntry(entry.encoded, url: Self.url, variant: entry.variant) == nil)
    }

    @Test("with the largest part, or any finite time, are decided about; others are refused")
    func extremes() throws {
        for (part, seconds) in [(0..<Int.max, 0.0), (Int.max..<Int.max, 0), (0..<4, 1e300), (0..<4, -1e300)] {
            let entry = Self.entry(
                Self.partFields, part: .init(range: part, completeLength: part.upperBound), seconds: seconds)
            decide(about: try #require(SharedEntry(entry.encoded, url: Self.url, variant: entry.variant)))
        }
        for seconds in [Double.infinity, -.infinity, .nan] {
            let entry = Self.entry(seconds: seconds)
            #expect(SharedEntry(entry.encoded, url: Self.url, variant: entry.variant) == nil)
        }
    }

    private static let lifetimeTable: [(fields: [(String, String)], retention: Double, milliseconds: Int)] = [
        ([("Cache-Control", "max-age=60")], 100, 160_000),
        ([("Cache-Control", "max-age=60, stale-while-revalidate=500")], 100, 560_000),
        ([("Cache-Control", "max-age=60, stale-if-error=300")], 100, 360_000),
        ([("Cache-Control", "max-age=60, stale-if-error=3")], 100, 160_000),
        ([("Cache-Control", "max-age=60, must-revalidate")], 100, 60_000),
        ([("Cache-Control", "max-age=60, must-revalidate"), ("ETag", "\"1\"")], 100, 160_000),
        ([("Cache-Control", "no-cache")], 100, 1000),
        ([("Cache-Control", "no-cache"), ("ETag", "\"1\"")], 100, 100_000),
        ([("Cache-Control", "max-age=99999999")], 100, 30 * 86_400_000),
        ([], 0, 1000), ([], Double.infinity, 30 * 86_400_000),
    ]

    @Test("live as long as the response is of use", arguments: lifetimeTable.indices)
    func lifetimes(_ index: Int) {
        let (fields, retention, milliseconds) = Self.lifetimeTable[index]
        let now = Date(timeIntervalSince1970: 1_800_000_000)
        let response = StoredResponse(
            url: Self.url, method: "GET", selectingFields: HTTPFields(), status: 200, fields: HTTPFields(fields),
            requestTime: now, responseTime: now)
        #expect(SharedLifetime.milliseconds(of: response, at: now, staleRetention: retention) == milliseconds)
    }

    @Test(
        "that are errors say what to do",
        arguments: [
            ("MOVED 3999 127.0.0.1:6381", ServerError.moved(slot: 3999, to: ClusterNode("127.0.0.1:6381")!)),
            ("MOVED 3999 :6381", .moved(slot: 3999, to: ClusterNode(":6381")!)),
            ("ASK 3999 ::1:6381", .ask(ClusterNode("::1:6381")!)),
            ("MOVED", .other("MOVED")), ("MOVED 99999 h:1", .other("MOVED 99999 h:1")),
            ("MOVED 1 h:x", .other("MOVED 1 h:x")),
            ("NOSCRIPT No matching script.", .noScript),
            ("OOM command not allowed", .refusesWrites("OOM command not allowed")),
            ("READONLY You can't write", .refusesWrites("READONLY You can't write")),
            ("ERR Error running script: -OOM command", .refusesWrites("ERR Error running script: -OOM command")),
            ("LOADING Redis is loading", .unavailable("LOADING Redis is loading")),
            ("BUSY Redis is busy running", .unavailable("BUSY Redis is busy running")),
            ("CLUSTERDOWN The cluster is down", .unavailable("CLUSTERDOWN The cluster is down")),
            ("MASTERDOWN Link with MASTER", .unavailable("MASTERDOWN Link with MASTER")), ("", .other("")),
            ("WRONGTYPE Operation against", .refusesKey("WRONGTYPE Operation against")),
            ("ERR Error: -WRONGTYPE Operation", .refusesKey("ERR Error: -WRONGTYPE Operation")),
            ("TRYAGAIN Multiple keys", .refusesKey("TRYAGAIN Multiple keys")),
            ("CROSSSLOT Keys in", .refusesKey("CROSSSLOT Keys in")), ("NOPERM no", .refusesKey("NOPERM no")),
        ])
    func errors(_ text: String, _ error: ServerError) {
        #expect(ServerError(text) == error)
    }

    @Test("that are announcements are read as they were written, and others are ignored")
    func messages() {
        for kind in [
            ChangeMessage.Kind.changed(url: "https://a/ b"), .removed(url: "", token: "0123456789abcdef"),
            .generation("g"),
        ] {
            let message = ChangeMessage(kind, from: "me")
            #expect(ChangeMessage(message.text) == message)
        }
        for text in [
            "", "me", "me changed", "me changed -", "me other - u", " changed - u", "me removed  u",
            "me removed 0123 u",
        ] {
            #expect(ChangeMessage(text) == nil, "\(text)")
        }
    }

    @Test("that are commands are arrays of strings")
    func commands() {
        var bytes: [UInt8] = []
        Command(["GET", "é"]).encode(into: &bytes) { _ in "" }
        Command(.read, keys: ["k"], arguments: [.data(Data([0, 13, 10]))]).encode(into: &bytes) {
            "digest\($0.rawValue)"
        }
        let text =
            "*2\r\n$3\r\nGET\r\n$2\r\né\r\n*5\r\n$7\r\nEVALSHA\r\n$7\r\ndigest0\r\n$1\r\n1\r\n$1\r\nk\r\n$3\r\n\0\r\n\r\n"
        #expect(String(decoding: bytes, as: UTF8.self) == text)
    }
}
