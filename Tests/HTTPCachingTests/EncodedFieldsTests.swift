import Foundation
import Testing

@testable import HTTPCaching

@Suite("Fields that stay encoded")
struct EncodedFieldsTests {
    private static let names = ["Age", "age", "Vary", "ETag", "Date", "X-Größe", "", "Cache-Control"]
    private static let values = ["", "1", "max-age=60", "Ünïcode, with \"quotes\"", String(repeating: "x", count: 300)]

    @Test("encoded fields answer and change like decoded ones", arguments: UInt64(0)..<50)
    func sameAsDecoded(_ seed: UInt64) throws {
        var generator = SeededNumbers(seed: seed)
        var plain = HTTPFields()
        for _ in 0..<generator.below(8) {
            plain.add(Self.names[generator.below(8)], value: Self.values[generator.below(5)])
        }
        var encoded = HTTPFields(try #require(EncodedFields(EncodedFields(plain).bytes)))
        for step in 0..<8 {
            #expect(encoded == plain)
            #expect(encoded.hashValue == plain.hashValue)
            #expect(encoded.isEmpty == plain.isEmpty)
            #expect(try Self.json(encoded) == Self.json(plain))
            #expect(try JSONDecoder().decode(HTTPFields.self, from: Self.json(encoded)) == plain)
            for name in Self.names {
                #expect(encoded[name] == plain[name])
                #expect(encoded.contains(name) == plain.lines.contains { HTTPFields.same($0.name, name) })
                #expect(encoded.values(of: name) == plain.values(of: name))
            }
            let (one, other) = (ResponseFacts(encoded), ResponseFacts(plain))
            #expect(one.control == other.control && one.age == other.age && one.varyNames == other.varyNames)
            let now = Date(timeIntervalSince1970: 0)
            #expect(one.date(at: now) == other.date(at: now) && one.entityTag == other.entityTag)
            let name = Self.names[generator.below(8)]
            for fields in [\Pair.encoded, \Pair.plain] {
                var pair = Pair(encoded: encoded, plain: plain)
                switch step % 4 {
                case 0: pair[keyPath: fields].add(name, value: "added")
                case 1: pair[keyPath: fields][name] = "set"
                case 2: pair[keyPath: fields].remove(name)
                default: pair[keyPath: fields].replace(with: HTTPFields([(name, "replaced"), ("New", "1")]))
                }
                (encoded, plain) = (pair.encoded, pair.plain)
            }
        }
    }

    private static func json(_ fields: HTTPFields) throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return try encoder.encode(fields)
    }

    private struct Pair {
        var encoded: HTTPFields
        var plain: HTTPFields
    }

    @Test("bytes that encode no fields are refused")
    func malformed() throws {
        let bytes = EncodedFields(HTTPFields([("Name", "value"), ("Age", "1")])).bytes
        #expect(EncodedFields(bytes) != nil)
        // It ends after the first line, too.
        for count in 1..<bytes.count where count != 17 { #expect(EncodedFields(bytes.prefix(count)) == nil) }
        for index in [0, 1, 2, 3, 8] {
            var changed = bytes
            changed[index] ^= 0xFF
            #expect(EncodedFields(changed) == nil)
        }
    }
}
