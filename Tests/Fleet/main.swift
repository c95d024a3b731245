import Foundation
import Synchronizer
import ValkeyCache

// The processes that `Scripts/fleet` starts.

/// Says something to the driver at once.
func say(_ line: String) {
    FileHandle.standardOutput.write(Data((line + "\n").utf8))
}

let arguments = Array(CommandLine.arguments.dropFirst())

/// The cache of a group: its directory, and the server that all groups share, if there is one.
func makeCache(_ directory: String, server: String, wait: TimeInterval = 0.25) throws -> URLCache {
    let local = SQLiteURLCache(
        memoryCapacity: 16 << 20, diskCapacity: 256 << 20,
        directory: URL(fileURLWithPath: directory, isDirectory: true))
    if server == "-" { return local }
    #if Valkey && canImport(CHiredis)
        var options = ValkeyURLCache.Options()
        options.longestWait = wait
        return try ValkeyURLCache(server: server, namespace: "fleet", local: local, options: options)
    #else
        say("This program was built without the trait Valkey.")
        exit(3)
    #endif
}

switch (arguments.first, arguments.count) {
case ("origin", 3):  // LATENCY PER-GROUP
    try Origin(latency: Double(arguments[1]) ?? 0, isPerGroup: arguments[2] == "1").run()
case ("member", 9):  // DIRECTORY SERVER PORT GROUP SEED PAUSE LEASES WAIT
    let numbers = [3, 5, 6, 8].compactMap { Int(arguments[$0]) }
    guard numbers.count == 4 else { exit(2) }
    let cache = try makeCache(arguments[1], server: arguments[2], wait: Double(numbers[3]) / 1000)
    await Member(
        cache: cache, port: numbers[0], group: arguments[4], seed: numbers[1], pause: numbers[2],
        takesLeases: arguments[7] == "1"
    ).run(tasks: 300)
case ("invalidations", 3):  // DIRECTORY SERVER
    try await Invalidations.printTable(server: arguments[2], directory: arguments[1])
case ("simulate", 1): Simulation.printTable()
case ("cost", 5):  // DIRECTORY SOCKET PROXY-PORT REQUESTS-CACHE
    var isMet = try await LeaseCost.printTable()
    #if Valkey && canImport(CHiredis)
        let cost = SharedCost(
            socket: arguments[2], directory: URL(fileURLWithPath: arguments[1], isDirectory: true),
            proxyPort: Int(arguments[3]) ?? 0, requestsCache: arguments[4].split(separator: " ").map(String.init))
        // On the main thread a shared cache does not wait for its server.
        isMet = try await Task.detached { try await cost.printTable() }.value && isMet
    #endif
    exit(isMet ? 0 : 1)
default:
    print(
        """
        usage: FleetMember origin LATENCY PER-GROUP | member DIRECTORY SERVER PORT GROUP SEED PAUSE LEASES WAIT
            | invalidations DIRECTORY SERVER | simulate | cost DIRECTORY SOCKET PROXY-PORT REQUESTS-CACHE
        """
    )
    exit(2)
}
