import Foundation
import Synchronizer

let arguments = CommandLine.arguments
if arguments.count > 2, arguments[1] == "--serve" {
    try ServerProcess.serve(bytesPerSecond: Int(arguments[2]) ?? 0)
    exit(0)
}

let only = arguments.count > 2 && arguments[1] == "--only" ? arguments[2] : ""
func isWanted(_ name: String) -> Bool { only.isEmpty || name.contains(only) }

func report(_ row: Row) {
    report(
        row.name, "\(Row.number(row.value)) \(row.unit)", row.against,
        "\(Row.number(row.yardstick)) \(row.unit)", "\(Row.number(row.ratio))×", row.goal, row.met)
}

func report(
    _ name: String, _ value: String, _ against: String, _ yardstick: String, _ ratio: String, _ goal: String,
    _ met: Bool
) {
    defer { fflush(nil) }
    print("| \(name) | \(value) | \(against) | \(yardstick) | \(ratio) | \(goal) | \(met ? "met" : "MISSED") |")
}

print("| loading | value | against | its value | ratio | goal | |\n| --- | --- | --- | --- | --- | --- | --- |")
let server = try ServerProcess()
if isWanted("memory") {
    let memory = try await MemoryRows(server)
    for row in try await memory.rows() { report(row) }
    let allocations = memory.allocations()
    report("allocations on a memory hit", Row.number(allocations), "–", "", "", "≤ 3", allocations <= 3)
}
if isWanted("cold") { for row in try await NetworkRows(server: server).cold() { report(row) } }
if isWanted("disk") { report(try await NetworkRows(server: server).disk()) }
if isWanted("crowd") {
    let each = try await CrowdRows().subscribers()
    report("10,000 subscribers of one load, each", "\(Row.number(each)) µs", "–", "", "", "≤ 3 µs", each <= 3)
    let bytes = try CrowdRows().bytesForEach()
    report("a waiting load, of 100,000", "\(Row.number(bytes)) bytes", "–", "", "", "≤ 1,024 bytes", bytes <= 1_024)
}
if isWanted("scroll") {
    let slow = try ServerProcess(bytesPerSecond: ScrollRows.link)
    var (all, cancelling, ours): ([Double], [Double], [Double]) = ([], [], [])
    for _ in 0..<4 {
        all.append(1e9 * (try await ScrollRows(slow, .oldestFirstWithoutCancel).run()))
        cancelling.append(1e9 * (try await ScrollRows(slow, .oldestFirstWithCancel).run()))
        ours.append(1e9 * (try await ScrollRows(slow, .ours).run()))
    }
    let name = "until a visible item shows, three flings"
    report(Row(name, Comparison(ours, all), unit: .milliseconds, against: "oldest first, no cancel", .atMost(0.35)))
    report(Row(name, Comparison(ours, cancelling), unit: .milliseconds, against: "with cancel only", .atMost(0.8)))
}
