import Foundation

/// Dates as they are written in field values (RFC 9110 §5.6.7, IMF-fixdate).
public enum HTTPDate {
    private static let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// Such as `Sun, 06 Nov 1994 08:49:37 GMT`.
    public static func string(from date: Date) -> String {
        var seconds = time_t(date.timeIntervalSince1970.rounded(.down))
        var parts = tm()
        gmtime_r(&seconds, &parts)
        let time = [parts.tm_hour, parts.tm_min, parts.tm_sec].map { twoDigits($0) }.joined(separator: ":")
        let month = months[Int(parts.tm_mon)]
        return "\(days[Int(parts.tm_wday)]), \(twoDigits(parts.tm_mday)) \(month) \(parts.tm_year + 1900) \(time) GMT"
    }

    static func date(from text: String) -> Date? {
        let words = text.split(separator: " ").map(String.init)
        guard words.count == 6, let month = months.firstIndex(of: words[2]) else { return nil }
        let time = words[4].split(separator: ":").compactMap { Int32($0) }
        guard let day = Int32(words[1]), let year = Int32(words[3]), time.count == 3 else { return nil }
        guard (1900...9999).contains(year) else { return nil }
        var parts = tm()
        parts.tm_year = year - 1900
        parts.tm_mon = Int32(month)
        (parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec) = (day, time[0], time[1], time[2])
        return Date(timeIntervalSince1970: TimeInterval(timegm(&parts)))
    }

    private static func twoDigits(_ number: Int32) -> String {
        number < 10 ? "0\(number)" : "\(number)"
    }
}
