import Foundation
import ScriptedServer
import TestSupport
import TestTraits
import Testing

@testable import Synchronizer

/// Counts lines, and notes how many bytes came at a time.
private struct Lines: StreamingResource {
    let url: URL
    let pieces: Collector<Int>
    var maximumSize: Int? { 100 << 20 }
    func request() -> URLRequest { URLRequest(url: url) }
    func makeParser() -> LineParser { LineParser(pieces: pieces) }
}

/// As `Lines`, with objects that are stored. Not private: the name of a private type does not last.
struct StoredLines: StreamingResource, DerivedResource {
    static let encodingVersion = "1"
    let url: URL
    let pieces: Collector<Int>
    var maximumSize: Int? { 100 << 20 }
    func request() -> URLRequest { URLRequest(url: url) }
    func makeParser() -> LineParser { LineParser(pieces: pieces) }
    func encode(_ object: Int) throws -> Data? { Data("\(object)".utf8) }
    func decode(_ data: Data) throws -> Int { Int(String(decoding: data, as: UTF8.self)) ?? -1 }
    func cost(of object: Int, size: Int) -> Int { 8 }
}

struct LineParser: StreamParser {
    struct Malformed: Error {}
    let pieces: Collector<Int>
    private var count = 0

    init(pieces: Collector<Int>) { self.pieces = pieces }

    mutating func parse(_ bytes: Data) throws {
        if bytes.contains(UInt8(ascii: "!")) { throw Malformed() }
        count += bytes.count { $0 == UInt8(ascii: "\n") }
        pieces.append(bytes.count)
    }

    func finish() -> Int { count }
}

/// Its parser takes a second for each piece.
private struct SlowLines: StreamingResource {
    struct Parser: StreamParser {
        let clock: ManualClock
        let pieces: Collector<Int>

        func parse(_ bytes: Data) throws {
            clock.advance(by: 1)
            pieces.append(bytes.count)
        }

        func finish() -> Int { pieces.elements.count }
    }

    let url: URL
    let parser: Parser
    func request() -> URLRequest { URLRequest(url: url) }
    func makeParser() -> Parser { parser }
}

@Suite("Resources that are parsed while their bytes arrive", .bounded)
struct StreamingTests {
    let files: FileBench
    let pieces = Collector<Int>()
    let body = Data(String(repeating: "a line of some bytes\n", count: 50_000).utf8)
    var bench: Workbench { files.bench }
    private var lines: Lines { Lines(url: bench.server.url("/a"), pieces: pieces) }

    init() throws {
        files = try FileBench()
    }

    @Test("say how long the parses of all pieces took")
    func seconds() async throws {
        bench.server["/a"] = Reply(body)
        let parser = SlowLines.Parser(clock: bench.clock, pieces: pieces)
        let loaded = try await files.synchronizer().loaded(SlowLines(url: bench.server.url("/a"), parser: parser))
        #expect(loaded.trace.parse == Double(loaded.object) && loaded.object > 0)
    }

    @Test("parse before the body is complete, and get the same from the cache")
    func parses() async throws {
        let gate = Gate()
        bench.server["/a"] = Reply(body, fields: ["Cache-Control": "max-age=60"]).waiting(
            for: gate, .afterBody(500_000))
        let synchronizer = files.synchronizer()
        async let loaded = synchronizer.loaded(lines)
        try await waitUntil("half of it is parsed") { pieces.elements.reduce(0, +) == 500_000 }
        gate.open()
        #expect(try await loaded.object == 50_000)
        #expect(pieces.elements.reduce(0, +) == body.count)
        synchronizer.removeAllObjects()
        #expect(try await synchronizer.loaded(lines).source == .cache)
        #expect(pieces.elements.reduce(0, +) == 2 * body.count)
        // And from memory, as every object.
        #expect(try await synchronizer.loaded(lines).source == .memory)
        #expect(bench.server.requests.count == 1)
        #expect(files.partials.isEmpty)
    }

    @Test("leave nothing behind if the response is not stored")
    func refused() async throws {
        let body = Data(String(repeating: "a line of some bytes\n", count: 250_000).utf8)
        bench.server["/a"] = Reply(body, fields: ["Cache-Control": "max-age=60", "ETag": "\"1\""]).ranged()
        let synchronizer = bench.synchronizer(cache: bench.cache(), delegate: RefusingDelegate())
        for _ in 0..<2 {
            let loaded = try await synchronizer.loaded(lines)
            #expect(loaded.object == 250_000 && loaded.trace.storing == .notStored(.refusedByDelegate))
            #expect(files.partials.isEmpty)
            synchronizer.removeAllObjects()
        }
        #expect(bench.server.requests.map { $0["Range"] } == [nil, nil])
    }

    @Test("have objects that are stored next to their response, as other objects are")
    func derived() async throws {
        bench.server["/a"] = Reply(body, fields: ["Cache-Control": "max-age=60"])
        let synchronizer = bench.synchronizer(cache: bench.cache()) { $0.derivedObjects?.minimumParseTime = 0 }
        let resource = StoredLines(url: bench.server.url("/a"), pieces: pieces)
        #expect(try await synchronizer.load(resource) == 50_000)
        synchronizer.loader.storing.wait()
        synchronizer.removeAllObjects()
        let loaded = try await synchronizer.loaded(resource)
        #expect(loaded.object == 50_000 && loaded.source == .cache && loaded.trace.isDerived)
        #expect(pieces.elements.reduce(0, +) == body.count)
    }

    @Test("parse all bytes once more when the transfer goes on", arguments: [true, false])
    func resumed(takesLarge: Bool) async throws {
        let reply = Reply(body, fields: ["ETag": "\"1\""]).ranged()
        bench.server.enqueue(reply.failing(.close(.afterBody(700_000))), reply, for: "/a")
        let synchronizer = files.synchronizer(takesLarge: takesLarge, attempts: 2)
        async let loaded = synchronizer.load(lines)
        try await bench.clock.runTimer(after: 0...0.5)
        #expect(try await loaded == 50_000)
        // A temporary file is not kept.
        #expect(bench.server.requests.map { $0["Range"] } == [nil, takesLarge ? "bytes=700000-" : nil])
        #expect(pieces.elements.reduce(0, +) == 700_000 + body.count)
    }

    @Test("share the transfer with those that come while it runs")
    func coalesced() async throws {
        let gate = Gate()
        bench.server["/a"] = Reply(body).waiting(for: gate, .afterBody(500_000))
        let synchronizer = files.synchronizer()
        let file = FileResource(request: lines.request(), to: files.file())
        var request = lines.request()
        request.setValue("identity", forHTTPHeaderField: "Accept-Encoding")
        let (results, sizes) = (Collector<Bool>(), pieces)
        synchronizer.loadResource(file, on: .global()) { _ in results.append(true) }
        try await gate.waitForArrivals()
        struct Late: StreamingResource {
            let sent: URLRequest
            let pieces: Collector<Int>
            var maximumSize: Int? { .max }
            func request() -> URLRequest { sent }
            func makeParser() -> LineParser { LineParser(pieces: pieces) }
        }
        synchronizer.loadResource(Late(sent: request, pieces: sizes), on: .global()) { result in
            if case .success(50_000) = result { results.append(true) }
        }
        gate.open()
        try await results.wait(for: 2)
        #expect(bench.server.requests.count == 1)
        #expect(files.content() == body)
    }

    @Test("fail with the error of their parser, and the response is removed")
    func malformed() async throws {
        bench.server["/a"] = Reply(body + Data("!".utf8), fields: ["Cache-Control": "max-age=60"])
        let synchronizer = files.synchronizer()
        for _ in 0..<2 {
            await #expect {
                try await synchronizer.load(lines)
            } throws: { error in
                guard case .undecodable(let error, _)? = error as? SynchronizerError else { return false }
                return error is LineParser.Malformed
            }
        }
        #expect(bench.server.requests.count == 2)
    }

    @Test("parse bodies that are in memory")
    func small() throws {
        #expect(try lines.parse(Data("a\nb\n".utf8)) == 2)
    }
}
