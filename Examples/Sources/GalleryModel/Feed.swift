public import Foundation

/// What the gallery shows: a title, and pictures in the order in which they come. `Documentation/Design/Gallery.md` describes
/// the JSON.
public struct Feed: Decodable, Hashable, Sendable {
    /// The heading of the window.
    public var title: String
    /// The pictures.
    public var items: [Item]

    /// A picture, and what is said about it.
    public struct Item: Decodable, Hashable, Sendable, Identifiable {
        /// Unlike that of any other item.
        public var id: Int
        /// What it is.
        public var title: String
        /// Who made it.
        public var credit: String
        /// What somebody who does not see it would want to be told.
        public var alternativeText: String
        /// Where it is; relative to the feed, if it is no whole URL.
        public var url: String
        /// Pixels, if the feed says so.
        public var width: Int?
        /// Pixels, if the feed says so.
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

    /// The items whose URL is one, each id once: the first of those that share an id.
    public func photographs(from feedURL: URL) -> [Photograph] {
        var known: Set<Int> = []
        return items.compactMap { item in
            guard let url = URL(string: item.url, relativeTo: feedURL)?.absoluteURL, known.insert(item.id).inserted
            else { return nil }
            return Photograph(item: item, url: url)
        }
    }
}

/// An item of a feed whose URL is known to be one.
public struct Photograph: Hashable, Sendable, Identifiable {
    /// The item in the feed.
    public let item: Feed.Item
    /// Where it is.
    public let url: URL

    public var id: Int { item.id }

    /// “1411 × 1411”; empty if the feed does not say.
    public var dimensions: String {
        guard let width = item.width, let height = item.height else { return "" }
        return "\(width) × \(height)"
    }
}
