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
func makeCache(_ directory: String, server: String) throws -> URLCache {
    let local = SQLiteURLCache(
        memoryCapacity: 16 << 20, diskCapacity: 256 << 20,
        directory: URL(fileURLWithPath: directory, isDirectory: true))
    if server == "-" { return local }
    #if Valkey && canImport(CHiredis)
        var options = ValkeyURLCache.Options()
        options.longestWait = 0.25  // the whole fleet and its server share the processors of one machine
        return try ValkeyURLCache(server: server, namespace: "fleet", local: local, options: options)
    #else
        say("This program was built without the trait Valkey.")
        exit(3)
    #endif
}

switch (arguments.first, arguments.count) {
case ("origin", 3):  // LATENCY PER-GROUP
    try Origin(latency: Double(arguments[1]) ?? 0, isPerGroup: arguments[2] == "1").run()
case ("member", 8):  // DIRECTORY SERVER PORT GROUP SEED PAUSE LEASES
    let cache = try makeCache(arguments[1], server: arguments[2])
    let numbers = [3, 5, 6].compactMap { Int(arguments[$0]) }
    guard numbers.count == 3 else { exit(2) }
    await Member(
        cache: cache, port: numbers[0], group: arguments[4], seed: numbers[1], pause: numbers[2],
        takesLeases: arguments[7] == "1"
    ).run(tasks: 300)
case ("invalidations", 3):  // DIRECTORY SERVER
    try await Invalidations.printTable(server: arguments[2], directory: arguments[1])
case ("simulate", 1): Simulation.printTable()
case ("cost", 3):  // DIRECTORY SOCKET
    try await LeaseCost.printTable()
    #if Valkey && canImport(CHiredis)
        // On the main thread a shared cache does not wait for its server.
        let (directory, socket) = (arguments[1], arguments[2])
        try await Task.detached { try SharedCost.printTable(socket: socket, directory: directory) }.value
    #endif
default:
    print(
        """
        usage: FleetMember origin LATENCY PER-GROUP | member DIRECTORY SERVER PORT GROUP SEED PAUSE LEASES
            | invalidations DIRECTORY SERVER | simulate | cost DIRECTORY SOCKET
        """
    )
    exit(2)
}
