import Foundation
import ScriptedServer
import TestSupport
import TestTraits
import Testing

@testable import Synchronizer

@Suite("A scheme in capital letters", .bounded)
struct SchemeTests {
    let bench: Workbench

    init() throws {
        bench = try Workbench()
        bench.server["/a"] = Reply("hello", fields: ["Cache-Control": "max-age=100"])
    }

    func shouting(_ url: URL) throws -> URL {
        try #require(URL(string: "HTTP" + url.absoluteString.dropFirst(4)))
    }

    @Test("is the same scheme")
    func url() async throws {
        let synchronizer = bench.synchronizer()
        let url = try shouting(bench.server.url("/a"))
        #expect(url.absoluteString.hasPrefix("HTTP://"))
        #expect(try await synchronizer.load(DataResource(url: url)) == Data("hello".utf8))
        let plain = DataResource(url: bench.server.url("/a"))
        #expect(synchronizer.cachedObject(for: plain) != nil)
        synchronizer.removeAllObjects()
        #expect(try await synchronizer.loaded(plain).source == .cache)
        synchronizer.invalidate(DataResource(url: url))
        #expect(try await synchronizer.loaded(plain).source == .network)
    }

    @Test("of a file is, too")
    func file() async throws {
        try FileManager.default.createDirectory(at: bench.directory, withIntermediateDirectories: true)
        let file = bench.directory.appendingPathComponent("file")
        try Data("hello".utf8).write(to: file)
        let url = try #require(URL(string: "FILE" + file.absoluteString.dropFirst(4)))
        #expect(try await bench.synchronizer().load(DataResource(url: url)) == Data("hello".utf8))
    }

    @Test("in Location is followed")
    func location() async throws {
        bench.server["/r"] = Reply.redirect(to: try shouting(bench.server.url("/a")).absoluteString)
        let loaded = try await bench.synchronizer().loaded(DataResource(url: bench.server.url("/r")))
        #expect(loaded.object == Data("hello".utf8))
        #expect(loaded.trace.redirects == [bench.server.url("/a")])
    }

    @Test("two Location fields that say the same are one", arguments: ["/a", "/b,c,/b,c"])
    func twoLocations(target: String) async throws {
        bench.server[target] = Reply("hello")
        bench.server["/r"] = .raw(
            "HTTP/1.1 302 Found\r\nLocation: \(target)\r\nLocation: \(target)\r\nContent-Length: 0\r\n\r\n")
        let loaded = try await bench.synchronizer().loaded(DataResource(url: bench.server.url("/r")))
        #expect(loaded.trace.redirects == [bench.server.url(target)])
    }

    @Test("repeated equal Location headers count once")
    func comma() async throws {
        bench.server["/b,/b"] = Reply("hello")
        bench.server["/r"] = Reply.redirect(to: "/b,/b")
        let loaded = try await bench.synchronizer().loaded(DataResource(url: bench.server.url("/r")))
        #expect(loaded.trace.redirects == [bench.server.url("/b,/b")])
    }
}
