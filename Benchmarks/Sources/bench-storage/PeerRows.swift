import Foundation
import Measuring
import Synchronizer

/// Other caches, in processes of their own, with the same entries: whole cached GETs of 20 KB.
struct PeerRows {
    private static let entries = 2000
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../../Peers").standardizedFileURL.path
    private static let python = folder + "/../.build/peers/caches/bin/python"

    private static let peers: [(name: String, rounds: Int, command: [String])] = [
        ("hishel, SQLite", 3, [python, "-B", folder + "/caches.py", "hishel"]),
        ("requests-cache, SQLite", 3, [python, "-B", folder + "/caches.py", "requests-cache"]),
        (
            "OkHttp, DiskLruCache", 15,
            [
                "/usr/bin/java", "-cp", "/usr/share/java/okhttp.jar:/usr/share/java/okio.jar",
                folder + "/OkHttpCache.java",
            ]
        ),
    ]

    static func rows(_ report: Report) throws -> [Row] {
        let scratch = try Scratch()
        let cache = try Fixture.cache(scratch.path("cache"))
        try Fixture.fill(cache, 0..<entries, bodySize: Fixture.bodySize)
        let requests = try Fixture.scattered(entries, of: entries)
        let origin = try Origin(python: python, program: folder + "/origin.py")
        var rows: [Row] = []
        for peer in peers {
            let name = "lookup on disk, with its HTTPURLResponse"
            do {
                let process = try Peer(peer.command + [origin.url, "\(entries)", try scratch.path(peer.name)])
                let comparison = try Comparison(rounds: peer.rounds) {
                    try Fixture.lookUpWhole(cache, requests)
                } against: {
                    try process.pass()
                }
                rows.append(Row(name, comparison, unit: .microseconds, against: peer.name, .faster(1)))
            } catch {
                report.skip("\(name), against \(peer.name)", because: "\(error) (Benchmarks/Peers/prepare-caches)")
            }
        }
        return rows
    }
}

/// The server that the peers fill their caches from.
private final class Origin {
    let url: String
    private let process = Process()
    private let input = Pipe()

    init(python: String, program: String) throws {
        let output = Pipe()
        let interpreter = FileManager.default.isExecutableFile(atPath: python) ? python : "/usr/bin/python3"
        process.executableURL = URL(fileURLWithPath: interpreter)
        process.arguments = ["-B", program]
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        let port = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        url = "http://127.0.0.1:\(port.trimmingCharacters(in: .whitespacesAndNewlines))"
    }

    deinit {
        try? input.fileHandleForWriting.close()
        process.waitUntilExit()
    }
}
