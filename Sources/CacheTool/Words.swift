import Foundation
import HTTPCaching

/// Formats numbers and fields for people.
enum Words {
    private static let units: [(name: String, seconds: Double)] = [("d", 86_400), ("h", 3600), ("min", 60), ("s", 1)]

    /// In the largest unit that gives at least 2; `?` if it is not finite, as an age is after the clock was set back.
    static func duration(_ seconds: TimeInterval) -> String {
        guard seconds.isFinite else { return "?" }
        let seconds = max(0, seconds)
        let unit = units.first { seconds >= 2 * $0.seconds } ?? ("s", 1)
        return "\(Int(min(seconds / unit.seconds, 1e9))) \(unit.name)"
    }

    static func lifetimeLeft(_ freshness: Freshness) -> String {
        if freshness.isFresh { return duration(freshness.lifetime - freshness.age) }
        return freshness.rule == .none ? "no lifetime" : "stale"
    }

    /// In units of 1000, as disks are sold and `ls --si` counts.
    static func size(_ bytes: Int) -> String {
        if bytes < 1000 { return "\(bytes) B" }
        var (amount, unit) = (Double(bytes), 0)
        while amount >= 999.95, unit < 4 { (amount, unit) = (amount / 1000, unit + 1) }
        return String(format: "%.1f ", amount) + ["B", "kB", "MB", "GB", "TB"][unit]
    }

    /// The variant of a URL: the method, if it is not GET, and the selecting request fields; `-` if there are none.
    static func variant(_ response: StoredResponse) -> String {
        let method = response.method == "GET" ? [] : [response.method]
        let fields = response.selectingFields.lines.map { "\($0.name): \(shortened($0.value))" }
        let parts = method + fields
        return parts.isEmpty ? "-" : printable(parts.joined(separator: ", "))
    }

    /// Digests of credentials are long, and so are the `Accept` fields of browsers.
    private static func shortened(_ value: String) -> String {
        value.count > 24 ? value.prefix(23) + "…" : value
    }

    /// Replaces control characters, which could move a terminal's cursor, by `?`. A server chooses the URLs of its redirects.
    static func printable(_ text: String) -> String {
        String(
            String.UnicodeScalarView(text.unicodeScalars.map { $0.properties.generalCategory == .control ? "?" : $0 }))
    }
}
