import CurlSession
import Foundation
import TestTraits
import Testing

@Suite(.bounded) struct CurlResponseHeadTests {
    @Test func `field lines keep their order and their repetitions`() throws {
        let url = try #require(URL(string: "http://example.test/"))
        let fields = [
            CurlResponseHead.Field(name: "A", value: "1"), .init(name: "a", value: "2"), .init(name: "A", value: "1"),
        ]
        #expect(
            CurlResponseHead(url: url, version: "HTTP/1.1", status: 200, fields: fields).fields.map(\.value) == [
                "1", "2", "1",
            ])
    }
}
