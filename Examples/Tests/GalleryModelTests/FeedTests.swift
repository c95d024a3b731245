import Foundation
import GalleryModel
import Testing

@Suite("The feed")
struct FeedTests {
    private func feed(_ items: String) throws -> Feed {
        try JSONDecoder().decode(Feed.self, from: Data("{\"title\": \"T\", \"items\": [\(items)]}".utf8))
    }

    private func photographs(_ items: String) throws -> [Photograph] {
        let url = try #require(URL(string: "https://example.org/a/feed.json"))
        return try feed(items).photographs(from: url)
    }

    @Test("id, title and url are enough; the title stands in for the alternative text")
    func least() throws {
        let item = try #require(try photographs(#"{"id": 7, "title": "Cat", "url": "cat.jpg"}"#).first)
        #expect(item.url.absoluteString == "https://example.org/a/cat.jpg")
        #expect(item.item.alternativeText == "Cat")
        #expect(item.dimensions.isEmpty)
    }

    @Test("items without a valid URL, or with the id of an earlier item, are left out")
    func leftOut() throws {
        let found = try photographs(
            """
            {"id": 1, "title": "A", "url": "https://example.org/a"}, {"id": 1, "title": "B", "url": "/b"},
            {"id": 2, "title": "C", "url": "http://[", "width": 3, "height": 2}
            """)
        #expect(found.map(\.item.title) == ["A"])
    }

    @Test(
        "each order is stable",
        arguments: [
            (Arrangement.asInFeed, [1, 2, 3, 4]), (.title, [2, 4, 1, 3]), (.credit, [1, 2, 3, 4]),
            (.largestFirst, [3, 1, 2, 4]),
        ])
    func orders(order: Arrangement, ids: [Int]) throws {
        let found = try photographs(
            """
            {"id": 1, "title": "b", "url": "/1", "width": 10, "height": 10}, {"id": 2, "title": "A", "url": "/2"},
            {"id": 3, "title": "B", "url": "/3", "width": 9223372036854775807, "height": 9223372036854775807},
            {"id": 4, "title": "a", "url": "/4", "width": -5, "height": 9}
            """)
        #expect(order.sorted(found).map(\.id) == ids)
    }
}
