import Foundation
import ScriptedServer

/// `/gallery.json?items=600`, in the format of `Documentation/Design/Gallery.md`, and its pictures, or another
/// feed of that kind. If the album has originals, the parameter `draw` (0 by default) chooses which items they are.
struct Album {
    static let largest = 10_000
    let name: String
    let details: [Detail]
    /// The picture of one in twelve items, instead of a reduced one.
    var originals: [Detail] = []

    func open(on server: ScriptedServer) {
        server.handle("/\(name).json") { request in
            let wanted = request.queryValue("items").flatMap(Int.init) ?? 600
            let draw = request.queryValue("draw").flatMap(Int.init) ?? 0
            return Self.reply(feed(of: min(max(0, wanted), Self.largest), draw), "application/json")
        }
        for detail in details + originals {
            let reply = Self.reply(detail.jpeg, "image/jpeg")
            server.handle("/\(name)/\(detail.name).jpg") { _ in reply }
        }
    }

    private func feed(of count: Int, _ draw: Int) -> Data {
        let items = (0..<count).map { id -> Item in
            let isOriginal = !originals.isEmpty && Self.isOriginal(id, draw)
            let detail = isOriginal ? originals[id % originals.count] : details[id % details.count]
            return Item(
                id: id, title: detail.title, credit: detail.credit, alternativeText: detail.alternativeText,
                url: "\(name)/\(detail.name).jpg?item=\(id)", width: detail.width, height: detail.height)
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return (try? encoder.encode(Document(title: "Sample photographs", items: details.isEmpty ? [] : items)))
            ?? Data()
    }

    /// One in twelve items, spread evenly and without a period, like multiples of the golden ratio.
    private static func isOriginal(_ id: Int, _ draw: Int) -> Bool {
        UInt32(truncatingIfNeeded: id &+ draw &* largest) &* 2_654_435_769 < UInt32.max / 12
    }

    private static func reply(_ body: Data, _ type: String) -> Reply {
        let hash = body.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
        return Reply(
            body,
            fields: [
                "Content-Type": type, "ETag": "\"\(String(hash, radix: 16))\"", "Cache-Control": "max-age=86400",
            ]
        ).conditional().ranged()
    }

    private struct Document: Encodable {
        let title: String
        let items: [Item]
    }

    private struct Item: Encodable {
        let id: Int
        let title: String
        let credit: String
        let alternativeText: String
        let url: String
        let width: Int
        let height: Int
    }
}
