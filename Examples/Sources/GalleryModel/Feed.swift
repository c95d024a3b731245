public import Foundation

/// The contents of the gallery: a title and pictures. `Documentation/Design/Gallery.md` describes the JSON.
public struct Feed: Decodable, Hashable, Sendable {
    /// The title of the window.
    public var title: String
    /// The pictures.
    public var items: [Item]

    /// A picture with its description.
    public struct Item: Decodable, Hashable, Sendable, Identifiable {
        /// Unique in the feed.
        public var id: Int
        /// The title.
        public var title: String
        /// The author and the licence.
        public var credit: String
        /// The description for screen readers.
        public var alternativeText: String
        /// The URL, which may be relative to the feed.
        public var url: String
        /// The width in pixels, if the feed states it.
        public var width: Int?
        /// The height in pixels, if the feed states it.
        public var height: Int?

        enum CodingKeys: CodingKey { case id, title, credit, alternativeText, url, width, height }

        public init(from decoder: any Decoder) throws {
            let values = try decoder.container(keyedBy: CodingKeys.self)
            id = try values.decode(Int.self, forKey: .id)
            title = try values.decode(String.self, forKey: .title)
            url = try values.decode(String.self, forKey: .url)
            credit = try values.decodeIfPresent(String.self, forKey: .credit) ?? ""
            alternativeText = try values.decodeIfPresent(String.self, forKey: .alternativeText) ?? title
            width = try values.decodeIfPresent(Int.self, forKey: .width)
            height = try values.decodeIfPresent(Int.self, forKey: .height)
        }
    }

    /// The items with a valid URL. If items have the same id, only the first is included.
    public func photographs(from feedURL: URL) -> [Photograph] {
        var known: Set<Int> = []
        return items.compactMap { item in
            guard let url = URL(string: item.url, relativeTo: feedURL)?.absoluteURL, known.insert(item.id).inserted
            else { return nil }
            return Photograph(item: item, url: url)
        }
    }
}

/// An item with a valid URL.
public struct Photograph: Hashable, Sendable, Identifiable {
    /// The item in the feed.
    public let item: Feed.Item
    /// The absolute URL.
    public let url: URL

    public var id: Int { item.id }

    /// “1411 × 1411”; empty if the feed states no size.
    public var dimensions: String {
        guard let width = item.width, let height = item.height else { return "" }
        return "\(width) × \(height)"
    }
}
