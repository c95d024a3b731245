import Foundation
import Measuring
import Synchronizer

let arguments = CommandLine.arguments
if arguments.count > 2, arguments[1] == "--serve" {
    try ServerProcess.serve(bytesPerSecond: Int(arguments[2]) ?? 0)
    exit(0)
}

// A peer that has ended is an error in its row, not the end of this program.
signal(SIGPIPE, SIG_IGN)
if arguments.count > 2, arguments[1] == "--disk" {
    try await DiskProfile().run(rounds: Int(arguments[2]) ?? 1)
    exit(0)
}
#if !canImport(Darwin)
    if arguments.count > 2, arguments[1] == "--slow" {
        try await PeerRows.slow(arguments[2])
        exit(0)
    }
    if arguments.count > 4, arguments[1] == "--file" {
        // bench-loading --file URL SMALL PATH [CACHE]
        try await FileRows.download(
            arguments[2], warmingUpWith: arguments[3], to: arguments[4], cachingIn: arguments.dropFirst(5).first)
        exit(0)
    }
    if arguments.count > 2, arguments[1] == "--profile" {
        // bench-loading --profile ROUNDS [ORIGIN]
        let server = try arguments.count > 3 ? NginxServer(at: arguments[3]) : NginxServer()
        try await PeerRows(server: server).profile(rounds: Int(arguments[2]) ?? 1)
        exit(0)
    }
#endif

var report = try Report("loading")
let server = try ServerProcess()
if report.isWanted("memory") {
    let memory = try await MemoryRows(server)
    for row in try await memory.rows() + CastRows.rows() { report.add(row) }
    let allocations = memory.allocations()
    report.add(Row("allocations on a memory hit", allocations, unit: "", atMost: 3))
}
#if !canImport(Darwin)
    let names = ["cold", "stored", "revalidated", "multiplexed", "large", "slow", "file"]
    if names.contains(where: report.isWanted) {
        let rows = PeerRows(server: try NginxServer())
        if report.isWanted("file") { for row in try FileRows(server: rows.server).rows() { report.add(row) } }
        if report.isWanted("cold") { for finding in try await rows.cold() { report.add(finding) } }
        if report.isWanted("stored") { report.add(try await rows.stored()) }
        if report.isWanted("revalidated") { report.add(try await rows.revalidated()) }
        if report.isWanted("multiplexed") { report.add(try await rows.multiplexed()) }
        if report.isWanted("large") { report.add(try await rows.large()) }
        if report.isWanted("slow") { for finding in try rows.slow() { report.add(finding) } }
    }
#else
    if report.isWanted("cold") { for row in try await NetworkRows(server: server).cold() { report.add(row) } }
#endif
if report.isWanted("disk") {
    let name = "loads from disk, whole, 20 KB"
    let scratch = try Scratch()
    let okHttp = Result { try Peer.okHttp(server, entries: NetworkRows.count, in: scratch.path("okhttp")) }
    let rounds = try await NetworkRows(server: server).disk(try? okHttp.get())
    report.add(
        Row(
            name, Comparison(rounds.ours, rounds.cache), unit: .microseconds, against: "SQLiteURLCache alone",
            .atMost(1.6)))
    report.add(Row("allocations of a load from disk", try await DiskProfile().allocations(), unit: "", atMost: 25))
    switch okHttp {
    case .success:
        let comparison = Comparison(rounds.ours, rounds.peer)
        report.add(Row(name, comparison, unit: .microseconds, against: "OkHttp's whole cached GET, warm", .atMost(0.6)))
    case .failure(let error): report.skip("\(name), against OkHttp", because: "\(error)")
    }
}
if report.isWanted("crowd") {
    report.add(
        Row(
            "one of 10,000 subscribers of one load", try await CrowdRows().subscribers(), unit: .microseconds,
            against: "a dictionary of requests and closures under a lock", .atMost(3)))
    let bytes = try CrowdRows().bytesForEach()
    report.add(Row("one of 100,000 waiting loads", bytes, unit: "bytes", atMost: 1_024))
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
