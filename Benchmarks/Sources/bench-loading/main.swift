import Foundation
import Measuring
import Synchronizer

let arguments = CommandLine.arguments
if arguments.count > 2, arguments[1] == "--serve" {
    try ServerProcess.serve(bytesPerSecond: Int(arguments[2]) ?? 0)
    exit(0)
}

var report = try Report("loading")
let server = try ServerProcess()
if report.isWanted("memory") {
    let memory = try await MemoryRows(server)
    for row in try await memory.rows() { report.add(row) }
    let allocations = memory.allocations()
    report.add(Row("allocations on a memory hit", allocations, unit: "", atMost: 3))
}
#if os(Linux)
    let names = ["cold", "stored", "revalidated", "multiplexed", "large", "slow"]
    if names.contains(where: report.isWanted) {
        let rows = PeerRows(server: try NginxServer())
        if report.isWanted("cold") { for row in try await rows.cold() { report.add(row) } }
        if report.isWanted("stored") { report.add(try await rows.stored()) }
        if report.isWanted("revalidated") { report.add(try await rows.revalidated()) }
        if report.isWanted("multiplexed") { report.add(try await rows.multiplexed()) }
        if report.isWanted("large") { report.add(try await rows.large()) }
        if report.isWanted("slow") { for row in try await rows.slow() { report.add(row) } }
    }
#else
    if report.isWanted("cold") { for row in try await NetworkRows(server: server).cold() { report.add(row) } }
#endif
if report.isWanted("disk") {
    let name = "loads from disk, whole, 20 KB"
    let rounds = try await NetworkRows(server: server).disk()
    report.add(
        Row(
            name, Comparison(rounds.map(\.0), rounds.map(\.1)), unit: .microseconds, against: "SQLiteURLCache alone",
            .atMost(2.5)))
    do {
        let passes = try OkHttpPeer(server: server).passes(entries: NetworkRows.count)
        let comparison = Comparison(rounds.suffix(passes.count).map(\.0), passes)
        report.add(Row(name, comparison, unit: .microseconds, against: "OkHttp's whole cached GET, warm", .atMost(1)))
    } catch {
        report.skip("\(name), against OkHttp", because: "\(error)")
    }
}
if report.isWanted("crowd") {
    let each = try await CrowdRows().subscribers()
    report.add(Row("10,000 subscribers of one load, each", each, unit: "µs", atMost: 3))
    let bytes = try CrowdRows().bytesForEach()
    report.add(Row("a waiting load, of 100,000", bytes, unit: "bytes", atMost: 1_024))
}
if report.isWanted("scroll") {
    let slow = try ServerProcess(bytesPerSecond: ScrollRows.link)
    var (all, cancelling, ours): ([Double], [Double], [Double]) = ([], [], [])
    for _ in 0..<4 {
        all.append(1e9 * (try await ScrollRows(slow, .oldestFirstWithoutCancel).run()))
        cancelling.append(1e9 * (try await ScrollRows(slow, .oldestFirstWithCancel).run()))
        ours.append(1e9 * (try await ScrollRows(slow, .ours).run()))
    }
    let name = "until a visible item shows, three flings"
    report.add(Row(name, Comparison(ours, all), unit: .milliseconds, against: "oldest first, no cancel", .atMost(0.35)))
    report.add(Row(name, Comparison(ours, cancelling), unit: .milliseconds, against: "with cancel only", .atMost(0.8)))
}
try report.finish()
