import Foundation
import ScriptedServer
import TestTraits
import Testing

@Suite("The sample site", .bounded)
struct SampleSiteTests {
    private func get(_ target: String, _ site: SampleSite, _ fields: String...) async throws -> (String, Data) {
        let client = try RawClient(site.server)
        let lines = (["Host: 127.0.0.1:\(site.server.port)"] + fields).map { $0 + "\r\n" }.joined()
        client.send("GET \(target) HTTP/1.1\r\n\(lines)\r\n")
        let head = try await client.read(through: "\r\n\r\n")
        let length = head.split(separator: "\r\n").first { $0.hasPrefix("Content-Length: ") }
        return (head, try await client.read(length.flatMap { Int($0.dropFirst(16)) } ?? 0))
    }

    @Test(
        "the feed has as many items as were asked for, each at a URL of its own",
        arguments: [("/feed.json", 48), ("/feed.json?items=7", 7), ("/feed.json?items=9999", 2_000)])
    func feed(target: String, count: Int) async throws {
        let site = try SampleSite()
        let feed = try JSONDecoder().decode(SampleFeed.self, from: await get(target, site).1)
        #expect(feed.items.count == count)
        #expect(Set(feed.items.map(\.url)).count == count)
        #expect(feed.items.allSatisfy { $0.url.port == Int(site.server.port) })
    }

    @Test("each photograph is there, in the size that the feed says")
    func photographs() async throws {
        let site = try SampleSite()
        for photograph in try SamplePhotograph.all() {
            let (head, body) = try await get("/photographs/\(photograph.file)?item=1", site)
            #expect(body == photograph.data)
            #expect(head.contains("Content-Type: \(photograph.contentType)\r\n"))
            #expect(!head.contains("Cache-Control") && !head.contains("Expires"))
            if photograph.file.hasSuffix(".png") {
                let size = body[16..<24].reduce(0) { $0 << 8 | UInt64($1) }
                #expect(size == UInt64(photograph.width) << 32 | UInt64(photograph.height))
            }
        }
    }

    @Test("lifetimes are given in two ways, by the site's own clock, and validators are answered with 304")
    func lifetimes() async throws {
        let site = try SampleSite { Date(timeIntervalSince1970: 0) }
        let first = try await get("/photographs/coffee.png?item=0", site).0
        #expect(first.contains("Cache-Control: max-age=86400\r\n"))
        let third = try await get("/photographs/coffee.png?item=2", site).0
        #expect(third.contains("Date: Thu, 01 Jan 1970 00:00:00 GMT\r\n"))
        #expect(third.contains("Expires: Fri, 02 Jan 1970 00:00:00 GMT\r\n"))
        let tag = try #require(first.split(separator: "\r\n").first { $0.hasPrefix("ETag: ") }).dropFirst(6)
        let fresh = try await get("/photographs/coffee.png?item=0", site, "If-None-Match: \(tag)").0
        #expect(fresh.hasPrefix("HTTP/1.1 304 "))
    }
}
