import Foundation

// bench [--only storage] [--json FILE]: prints a table, exits with 1 when a goal is missed.
var json: String?
var arguments = CommandLine.arguments.dropFirst().makeIterator()
while let argument = arguments.next() {
    switch argument {
    case "--json": json = arguments.next()
    case "--only": guard arguments.next() == "storage" else { throw BenchmarkError("only storage rows are here yet") }
    default: throw BenchmarkError("bench [--only storage] [--json FILE]")
    }
}
var rows: [Row] = []
print("| row | value | against | value | ratio | goal | met |\n| --- | ---: | --- | ---: | ---: | --- | --- |")
for measure in storageRows {
    let row = try measure()
    rows.append(row)
    let cells = [
        row.name, "\(Row.number(row.value)) \(row.unit)", row.against, "\(Row.number(row.yardstick)) \(row.unit)",
        Row.number(row.ratio), row.goal, row.met ? "yes" : "no",
    ]
    print("| " + cells.joined(separator: " | ") + " |")
}
if let json { try JSONEncoder().encode(rows).write(to: URL(fileURLWithPath: json)) }
exit(rows.allSatisfy(\.met) ? 0 : 1)
