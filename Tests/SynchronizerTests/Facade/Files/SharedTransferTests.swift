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
}
