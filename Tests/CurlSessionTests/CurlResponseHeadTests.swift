import Foundation
import TestTraits
import Testing

@testable import CurlSession

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

    @Test(
        arguments: [
            ("Content-Length", FieldName.contentLength, true), ("content-length", FieldName.contentLength, true),
            ("CONTENT-LENGTH", "content-length", true), ("Content-Lengtj", FieldName.contentLength, false),
            ("Content_Length", FieldName.contentLength, false), ("Content\rLength", FieldName.contentLength, false),
            ("a[", "a{", false), ("a@", "a`", false), ("", "", true), ("Host", "Hosts", false),
        ])
    func `names of fields are compared without regard to case, which only letters have`(
        sent: String, name: String, isSame: Bool
    ) {
        #expect(CurlResponseHead.Field(name: sent, value: "").isNamed(name) == isSame)
        #expect(CurlResponseHead.Field(name: name, value: "").isNamed(sent) == isSame)
    }
}
