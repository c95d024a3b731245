import Foundation

/// The table that a benchmark prints while it runs, and the list that it leaves for programs.
///
///     bench-storage [--rows WORD] [--json FILE]
public struct Report {
    public let title: String
    /// Only rows with this word in their names are wanted; all, if it is empty.
    public let word: String
    private let json: String?
    private var rows: [Row] = []

    /// - Throws: `BenchmarkError` if the arguments are not as above.
    public init(_ title: String, arguments: [String] = CommandLine.arguments) throws {
        self.title = title
        var (word, json) = ("", String?.none)
        var rest = arguments.dropFirst().makeIterator()
        while let argument = rest.next() {
            guard let value = rest.next() else { throw BenchmarkError("\(argument) needs a value") }
            switch argument {
            case "--rows": word = value
            case "--json": json = value
            default: throw BenchmarkError("[--rows WORD] [--json FILE] are the arguments, not \(argument)")
            }
        }
        self.word = word
        self.json = json
        print("| \(title) | value | against | its value | ratio | goal | |")
        print("| --- | ---: | --- | ---: | ---: | --- | --- |")
    }

    public func isWanted(_ name: String) -> Bool { word.isEmpty || name.localizedCaseInsensitiveContains(word) }

    public mutating func add(_ row: Row) {
        rows.append(row)
        let cells = [
            row.name, Self.value(row.value, row.unit), row.against ?? "–",
            row.yardstick.map { Self.value($0, row.unit) } ?? "", row.ratio.map { "\(Row.number($0))×" } ?? "",
            row.goal, row.met ? "met" : "MISSED",
        ]
        print("| " + cells.joined(separator: " | ") + " |")
        fflush(nil)
    }

    /// What could not be measured here, and why.
    public func skip(_ name: String, because reason: String) {
        print("| \(name) | not measured: \(reason) |")
        fflush(nil)
    }

    /// Writes the list, and ends the program: with 1 if a goal was missed.
    public func finish() throws -> Never {
        if let json { try JSONEncoder().encode(rows).write(to: URL(fileURLWithPath: json)) }
        exit(rows.allSatisfy(\.met) ? 0 : 1)
    }

    private static func value(_ value: Double, _ unit: String) -> String {
        unit.isEmpty ? Row.number(value) : "\(Row.number(value)) \(unit)"
    }
}
