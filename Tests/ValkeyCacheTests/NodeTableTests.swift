import TestTraits
import Testing

@testable import ValkeyCache

@Suite("The nodes of a cluster", .bounded)
struct NodeTableTests {
    /// A cluster whose main node is "m": slot 1 is at "a", slot 2 at "b", and slot 3 at the main node.
    private func table() -> NodeTable<String> {
        var table = NodeTable<String>()
        for (slot, node) in [(1, "a"), (2, "b"), (3, "m")] { table.note(node, of: slot) }
        return table
    }

    @Test("are asked in this order: the one that has the slot, the main node, the others")
    func order() {
        let (table, none) = (table(), NodeTable<String>())
        #expect(table.isCluster && !none.isCluster)
        let cases: [(slot: Int?, nodes: [String])] = [
            (1, ["a", "m", "b"]), (2, ["b", "m", "a"]), (3, ["m", "b", "a"]), (4, ["m", "b", "a"]),
            (nil, ["m", "b", "a"]),
        ]
        for (slot, nodes) in cases {
            #expect(table.candidates(for: slot, main: "m") == nodes)
            #expect(none.candidates(for: slot, main: "m") == ["m"])
        }
    }

    @Test("stay known when they fail; their slots are asked for elsewhere, until another one has them")
    func failure() {
        var table = table()
        _ = table.didFail("a", at: 0)
        #expect(table.candidates(for: 1, main: "m") == ["m", "b", "a"])
        #expect(table.candidates(for: 2, main: "m") == ["b", "m", "a"])
        table.note("c", of: 1)
        #expect(table.candidates(for: 1, main: "m") == ["c", "m", "b", "a"])
    }

    @Test("have a circuit breaker each")
    func breakers() {
        var table = table()
        let logs = (0..<3).map { _ in table.didFail("a", at: 0) }
        #expect(logs == [false, false, true])
        let allowed = ["a", "b", "m"].map { table.allows($0, at: 0.01) }
        #expect(allowed == [false, true, true])
        #expect(table.workingNodes == ["m", "b"] && !table.isPausing(main: "m"))
        table.noteAnswer("a", at: 0.02)
        let probes = [0.02, 0.03].map { table.allows("a", at: $0) }
        table.didAnswer("a")
        let calls = [0.04, 0.04].map { table.allows("a", at: $0) }
        #expect(probes == [true, false] && calls == [true, true])
        for node in ["a", "b", "m"] { for _ in 0..<3 { _ = table.didFail(node, at: 1) } }
        #expect(table.workingNodes.isEmpty && table.isPausing(main: "m") && !NodeTable<String>().isPausing(main: "m"))
    }

    @Test("are forgotten if too many others were named since")
    func limit() {
        var table = table()
        for number in 0..<NodeTable<String>.maximumCount { table.note("\(number)", of: 100 + number) }
        #expect(table.nodes.count == NodeTable<String>.maximumCount && !table.nodes.contains("m"))
        #expect(table.candidates(for: 1, main: "m").first == "m")
        #expect(table.candidates(for: 100, main: "m").first == "0")
    }
}
