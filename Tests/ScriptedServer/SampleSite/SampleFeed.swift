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

    /// A photograph, and what is written below it.
    public struct Item: Codable, Hashable, Sendable, Identifiable {
        /// Unlike that of any other item.
        public var id: Int
        /// What it is.
        public var title: String
        /// Who made it.
        public var credit: String
        /// What somebody who does not see it would want to be told.
        public var alternativeText: String
        /// Where it is.
        public var url: URL
        /// Pixels.
        public var width: Int
        /// Pixels.
        public var height: Int
    }
}
