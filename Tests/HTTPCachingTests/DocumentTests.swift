import Foundation
import Testing

@Suite("Documentation/RFC9111.md")
struct DocumentTests {
    static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// The ids of all tables.
    static var ids: Set<String> {
        var ids: [String] = []
        for rules in [
            ReuseTable.rules, SelectingTable.single, SelectingTable.several, SelectingTable.credentials,
            ValidationTable.sent, ValidationTable.received, StaleTable.beforehand, RequestTable.directives,
            RequestTable.policies, RangeTable.rules, QueryTable.rules,
        ] { ids += rules.map(\.id) }
        ids += FreshnessTable.lifetimes.map(\.id) + FreshnessTable.ages.map(\.id) + FresheningTable.outcomes.map(\.id)
        ids += StaleTable.afterwards.map(\.id) + StoringTable.cases.map(\.id) + InvalidationTable.cases.map(\.id)
        ids += RangeTable.combinations.map(\.id) + QueryTable.storing.map(\.id)
        #expect(Set(ids).count == ids.count, "no id is used twice")
        return Set(ids)
    }

    /// The tests themselves, such as `DateTests.roundTrip()`, as they are declared.
    static func functions() throws -> Set<String> {
        var functions: Set<String> = []
        let tests = root.appendingPathComponent("Tests")
        for case let file as URL in FileManager.default.enumerator(at: tests, includingPropertiesForKeys: nil)
            ?? .init()
        where file.pathExtension == "swift" {
            functions.formUnion(names(in: try String(contentsOf: file, encoding: .utf8)))
        }
        return functions
    }

    private static func names(in source: String) -> [String] {
        var type = ""
        return source.split(separator: "\n").compactMap { line in
            let words = line.split(separator: " ")
            if line.hasPrefix("struct "), words.count > 1 { type = String(words[1]) }
            guard line.hasPrefix("    func "), let open = line.firstIndex(of: "("), let close = line.firstIndex(of: ")")
            else { return nil }
            let labels = line[line.index(after: open)..<close].split(separator: ",").map { parameter in
                "\(parameter.drop { $0 == " " }.prefix { $0 != " " && $0 != ":" }):"
            }
            return "\(type).\(line[..<open].dropFirst("    func ".count))(\(labels.joined()))"
        }
    }

    @Test("names tests that exist, and nothing else")
    func references() throws {
        let text = try String(
            contentsOf: Self.root.appendingPathComponent("Documentation/RFC9111.md"), encoding: .utf8)
        let quoted = text.split(separator: "`", omittingEmptySubsequences: false).enumerated()
            .filter { $0.offset % 2 == 1 }.map { String($0.element) }
        let known = try Self.ids.union(Self.functions())
        let prefixes = Set(Self.ids.compactMap { $0.split(separator: ".").first })
        let references = quoted.filter { name in
            name.hasSuffix(")") || prefixes.contains { name.hasPrefix("\($0).") }
        }
        #expect(references.count > 200)
        #expect(Set(references).subtracting(known).sorted() == [])
    }
}
