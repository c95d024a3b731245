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

    @Test func `Foundation gets repeated lines as one, whatever their case`() throws {
        let url = try #require(URL(string: "http://example.test/"))
        let fields = [("Link", "<a>"), ("link", "<b>"), ("X", "1"), ("LINK", "<c>")]
        let head = CurlResponseHead(
            url: url, version: "HTTP/1.1", status: 200, fields: fields.map { .init(name: $0, value: $1) })
        let response = try #require(head.httpURLResponse)
        #expect(response.value(forHTTPHeaderField: "Link") == "<a>, <b>, <c>")
        #expect(response.allHeaderFields.count == 2)
    }

    /// Foundation takes time with the square of their lengths.
    @Test(arguments: ["Content-Type", "content-disposition"], [1, 4_000])
    func `fields that Foundation parses are left out if they are longer than 4 KB`(name: String, lines: Int) throws {
        let url = try #require(URL(string: "http://example.test/"))
        let value = lines == 1 ? "a/b" + String(repeating: ";", count: 90_000) : "a/b; c=\"d;"
        let fields = (0..<lines).map { _ in CurlResponseHead.Field(name: name, value: value) }
        let head = CurlResponseHead(
            url: url, version: "HTTP/1.1", status: 200, fields: fields + [.init(name: "X", value: "1")])
        let response = try #require(head.httpURLResponse)
        #expect(response.value(forHTTPHeaderField: name) == nil)
        #expect(response.value(forHTTPHeaderField: "X") == "1")
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
