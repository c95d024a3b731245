import HTTPCaching
import TestTraits
import Testing

/// Servers choose how long fields are, and the rules run on queues that other loads share. So each rule takes time in proportion to
/// the size of its input. These inputs have some hundred kilobytes, and in a soak about a megabyte: in quadratic time, each of these
/// tests would take minutes.
@Suite("Very long fields take no more than linear time")
struct LargeFieldsTests {
    private static let many = Soak.count(30_000, inSoak: 100_000)

    private func names(_ prefix: String) -> [String] { (0..<Self.many).map { "\(prefix)\($0)" } }

    @Test("quotes that are never closed", arguments: ["\"", "\\\"", "=\"", "a=\"", " \""])
    func openQuotes(unit: String) {
        let value = "\"" + String(repeating: unit, count: 2 * Self.many + 1)
        var fields = HTTPFields([("Cache-Control", value + ", no-store"), ("Vary", value), ("Connection", value)])
        #expect(CacheRules.objection(toStoring: 200, fields: fields, answering: .get()) != nil)
        fields.remove("Cache-Control")
        #expect(CacheRules.storedFields(of: fields, receivedAt: Moment.arrival)["Vary"] == value)
    }

    @Test("names in Connection and in no-cache")
    func excludedNames() {
        let lines = names("A").map { ($0, "1") }
        let listed = names("B").joined(separator: ",")
        var fields = HTTPFields(lines + [("A", "1"), ("Cache-Control", "max-age=60, no-cache=\"\(listed)\"")])
        fields.add("Connection", value: listed + ",A")
        let stored = CacheRules.storedFields(of: fields, receivedAt: Moment.arrival)
        #expect(stored["A"] == nil && stored["A0"] == "1")
    }

    @Test("names in Vary")
    func variedNames() {
        let vary = "Vary: " + names("A").joined(separator: ",")
        let (stored, newer) = (Candidate.response(vary).response, Candidate.response(vary + ",B").response)
        #expect(CacheRules.rebound(newer, from: stored, to: nil, among: [stored]) == nil)
        #expect(CacheRules.rebound(stored, from: newer, to: nil, among: [newer]) == stored)
    }

    @Test("a name that is repeated in Vary, of a field whose digest is compared")
    func repeatedName() {
        let request = CacheRequest.get("Cookie: " + String(repeating: "x", count: 1_000))
        let vary = "Cache-Control: max-age=60\nVary: " + String(repeating: "Cookie,", count: Self.many)
        let stored = Candidate.response(vary, asked: request)
        #expect(CacheRules.selects(stored.response, for: request))
    }

    @Test("fields of a stored response and of a newer message")
    func replacedFields() {
        var fields = HTTPFields(names("A").map { ($0, "1") })
        fields.replace(with: HTTPFields(names("B").map { ($0, "2") } + [("a0", "3")]))
        #expect(fields.values(of: "A0") == ["3"] && fields["A1"] == "1" && fields["B1"] == "2")
    }

    @Test("lines of one name")
    func lines() {
        let value = String(repeating: "x", count: 200)
        let fields = HTTPFields(names("A").map { _ in ("A", value) })
        #expect(fields["A"]?.utf8.count == Self.many * 202 - 2)
    }
}
