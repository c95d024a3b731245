import Foundation

/// The document that the sample site's `/feed.json` holds: a list of photographs.
///
/// ```json
/// {"title": "Sample photographs", "items": [{"id": 0, "title": "A cat", "credit": "…", "alternativeText": "…",
///  "url": "http://…/photographs/chelsea.png?item=0", "width": 451, "height": 300}]}
/// ```
public struct SampleFeed: Codable, Hashable, Sendable {
    /// A heading.
    public var title: String
    /// The photographs, in the order in which they are shown.
    public var items: [Item]

    /// A photograph and its caption.
    public struct Item: Codable, Hashable, Sendable, Identifiable {
        /// Unique in the feed.
        public var id: Int
        /// The title.
        public var title: String
        /// The author.
        public var credit: String
        /// A description for people who can't see the photograph.
        public var alternativeText: String
        /// The URL of the image.
        public var url: URL
        /// Pixels.
        public var width: Int
        /// Pixels.
        public var height: Int
    }
}
