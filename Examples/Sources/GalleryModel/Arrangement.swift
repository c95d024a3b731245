import Foundation

/// The order in which the pictures are shown.
public enum Arrangement: String, Codable, CaseIterable, Sendable {
    case asInFeed, title, credit, largestFirst

    /// The label for users.
    public var words: String {
        switch self {
        case .asInFeed: "Feed order"
        case .title: "By title"
        case .credit: "By author"
        case .largestFirst: "Largest first"
        }
    }

    /// The same pictures in this order. The sort is stable.
    public func sorted(_ photographs: [Photograph]) -> [Photograph] {
        switch self {
        case .asInFeed: photographs
        case .title: photographs.sortedStably { $0.item.title.localizedLowercase < $1.item.title.localizedLowercase }
        case .credit: photographs.sortedStably { $0.item.credit.localizedLowercase < $1.item.credit.localizedLowercase }
        case .largestFirst: photographs.sortedStably { $0.pixels > $1.pixels }
        }
    }
}

extension Photograph {
    /// Zero if the feed has no valid size.
    fileprivate var pixels: Double { max(0, Double(item.width ?? 0)) * max(0, Double(item.height ?? 0)) }
}

extension Array {
    /// The standard library's sort is stable, but does not promise it.
    fileprivate func sortedStably(_ isBefore: (Element, Element) -> Bool) -> [Element] {
        enumerated().sorted { one, other in
            if isBefore(one.element, other.element) { return true }
            return !isBefore(other.element, one.element) && one.offset < other.offset
        }.map(\.element)
    }
}
