import Foundation
import SynchronizerTesting

/// A web site to load from without the internet: a JSON feed, and the photographs that it names.
///
/// ```swift
/// let site = try SampleSite()
/// let feed = try await synchronizer.load(JSONResource<SampleFeed>(url: site.feedURL))
/// ```
///
/// The photographs are few and the items many: the same photograph at another URL is another item. Everything has
/// validators and answers conditions and ranges. One item in three has a lifetime of a day by `Cache-Control`, one
/// by `Expires`, and one has no lifetime.
public final class SampleSite: Sendable {
    /// The server, for its counts and for faults.
    public let server: ScriptedServer
    /// The lifetime of responses that have one, in seconds.
    public static let lifetime = 24 * 60 * 60
    /// The most items that a feed has.
    public static let largestFeed = 2_000

    /// Starts the site.
    ///
    /// - Parameters:
    ///   - port: 0 lets the system choose. A cache can be used again only with the same port.
    ///   - itemCount: How many items `/feed.json` has, unless it is asked for as `/feed.json?items=100`.
    ///   - now: What the site takes the time from, for `Date` and `Expires`.
    public init(
        port: UInt16 = 0, itemCount: Int = 48, now: @escaping @Sendable () -> Date = { Date() }
    ) throws {
        let photographs = try SamplePhotograph.all()
        server = try ScriptedServer(port: port)
        server.handle("/feed.json") { request in
            let wanted = request.queryValue("items").flatMap(Int.init) ?? itemCount
            let count = min(max(0, wanted), Self.largestFeed)
            return Self.feedReply(Self.feed(of: photographs, count: count, host: request["Host"] ?? ""), now: now())
        }
        for photograph in photographs {
            let tag = Self.entityTag(photograph.data)
            server.handle("/photographs/\(photograph.file)") { request in
                Self.reply(photograph, tag, item: request.queryValue("item").flatMap(Int.init) ?? 0, now: now())
            }
        }
    }

    /// The URL of the feed.
    public var feedURL: URL { server.url("/feed.json") }

    /// Stops its server.
    public func stop() {
        server.stop()
    }

    private static func feed(of photographs: [SamplePhotograph], count: Int, host: String) -> SampleFeed {
        let items = (0..<count).compactMap { id -> SampleFeed.Item? in
            let photograph = photographs[id % photographs.count]
            guard let url = URL(string: "http://\(host)/photographs/\(photograph.file)?item=\(id)") else { return nil }
            return SampleFeed.Item(
                id: id, title: photograph.title, credit: photograph.credit,
                alternativeText: photograph.alternativeText, url: url, width: photograph.width,
                height: photograph.height)
        }
        return SampleFeed(title: "Sample photographs", items: items)
    }

    private static func feedReply(_ feed: SampleFeed, now: Date) -> Reply {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let data = try? encoder.encode(feed) else { return Reply(status: 500) }
        return Reply(
            data,
            fields: [
                "Content-Type": "application/json", "Cache-Control": "max-age=\(lifetime)", "ETag": entityTag(data),
            ]
        ).adding("Date", date: now).conditional().ranged()
    }

    private static func reply(_ photograph: SamplePhotograph, _ tag: String, item: Int, now: Date) -> Reply {
        let reply = Reply(
            photograph.data,
            fields: [
                "Content-Type": photograph.contentType, "ETag": tag, "Last-Modified": "Sat, 01 Mar 2025 12:00:00 GMT",
            ]
        ).adding("Date", date: now).conditional().ranged()
        switch item % 3 {
        case 0: return reply.adding("Cache-Control", value: "max-age=\(lifetime)")
        case 1: return reply
        default:
            return reply.adding("Expires", date: now + TimeInterval(lifetime))
        }
    }

    /// A strong one: FNV-1a over the bytes.
    private static func entityTag(_ data: Data) -> String {
        let hash = data.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
        return "\"\(String(hash, radix: 16))\""
    }
}
