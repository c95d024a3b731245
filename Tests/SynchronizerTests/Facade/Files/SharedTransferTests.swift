import Foundation
import ScriptedServer
import TestSupport
import TestTraits
import Testing

@testable import Synchronizer

@Suite("Files whose transfer is shared", .bounded)
struct SharedTransferTests {
    let files: FileBench
    let body = FileBench.body(2_000_000)
    var bench: Workbench { files.bench }

    init() throws {
        files = try FileBench()
    }

    private enum Ending: CaseIterable {
        case fails, isCancelled
    }

    @Test("arrive although the folder of the load that began the transfer goes", arguments: Ending.allCases)
    private func folderGoes(_ ending: Ending) async throws {
        let gate = Gate()
        bench.server["/a"] = Reply(body, fields: ["Cache-Control": "max-age=60"]).waiting(for: gate, .beforeHead)
        let synchronizer = files.synchronizer(takesLarge: false)
        let folder = files.file("folder")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        let results = (first: Collector<Bool>(), second: Collector<Bool>())
        let cancel = synchronizer.loadResource(files.resource("folder/file"), on: .global()) { result in
            results.first.append((try? result.get()) != nil)
        }
        synchronizer.loadResource(files.resource(), on: .global()) { results.second.append((try? $0.get()) != nil) }
        try await gate.waitForArrivals()
        try FileManager.default.removeItem(at: folder)
        if ending == .isCancelled { cancel() }
        gate.open()
        #expect(try await results.second.wait(for: 1) == [true])
        if ending == .fails { #expect(try await results.first.wait(for: 1) == [false]) }
        #expect(files.content() == body)
        #expect(bench.server.requests.count == 1)
    }

    @Test("fail for a caller whose folder does not exist, but not for a caller that comes at the same moment")
    func badDestination() async throws {
        bench.server["/a"] = Reply(FileBench.body(1_000))
        let synchronizer = files.synchronizer()
        var others: [[String]] = []
        for round in 0..<200 {
            let results = Collector<String>()
            let target = "/a?\(round)"
            for name in ["missing/file", "file"] {
                synchronizer.loadResource(files.resource(name, target), on: .global()) { result in
                    results.append("\(name) \((try? result.get()) != nil)")
                }
            }
            let ended = try await results.wait(for: 2).sorted()
            if ended != ["file true", "missing/file false"] { others.append(ended) }
        }
        #expect(others == [])
        // Alone, it fails before anything is sent.
        let sent = bench.server.requests.count
        await #expect(throws: SynchronizerError.self) {
            try await synchronizer.load(files.resource("missing/file"))
        }
        #expect(bench.server.requests.count == sent)
    }

    @Test("fail for a caller whose folder goes, but not for a caller that joins when the response arrives")
    func lateJoin() async throws {
        let synchronizer = files.synchronizer(takesLarge: false)
        let body = FileBench.body(300_000)
        var others: [[String]] = []
        for round in 0..<50 {
            let (gate, results) = (Gate(), Collector<String>())
            bench.server["/\(round)"] = Reply(body, fields: ["ETag": "\"1\""]).waiting(for: gate)
            let folder = files.file("folder")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
            synchronizer.loadResource(files.resource("folder/file", "/\(round)"), on: .global()) { result in
                results.append("folder \((try? result.get()) != nil)")
            }
            try await gate.waitForArrivals()
            try FileManager.default.removeItem(at: folder)
            let resource = files.resource("file", "/\(round)")
            onThreads(2) { number in
                if number == 0 { return gate.open() }
                synchronizer.loadResource(resource, on: .global()) { result in
                    results.append("file \((try? result.get()) != nil)")
                }
            }
            let ended = try await results.wait(for: 2).sorted()
            if ended != ["file true", "folder false"] { others.append(ended) }
        }
        #expect(others == [])
        #expect(files.content() == body)
    }

    @Test("that are validated in the background arrive beside no destination")
    func refresh() async throws {
        let gate = Gate()
        let fields: KeyValuePairs = ["Cache-Control": "max-age=1, stale-while-revalidate=1000", "ETag": "\"1\""]
        bench.server["/a"] = Reply("old", fields: fields)
        let synchronizer = files.synchronizer(takesLarge: false)
        _ = try await synchronizer.load(files.resource())
        bench.clock.advance(by: 100)
        // So large that the connection can't hold it: when the server waits, a file has most of the body.
        bench.server["/a"] = Reply(Data(count: 30_000_000), fields: fields).waiting(for: gate, .afterBody(29_000_000))
        #expect(try await synchronizer.loaded(files.resource()).source != .network)
        try await gate.waitForArrivals()
        #expect(try files.names == ["file"])
        gate.open()
    }
}
