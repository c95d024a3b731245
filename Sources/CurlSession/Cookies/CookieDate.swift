import Foundation

/// Parses the dates of cookies by the algorithm of RFC 6265bis §5.1.1. Without a formatter, this takes a microsecond.
enum CookieDate {
    static func parse(_ text: String) -> Date? {
        var parts = Parts()
        for token in text.utf8.split(whereSeparator: isDelimiter) { parts.take(token) }
        return parts.date
    }

    private struct Parts {
        var time: [Int]?
        var day: Int?
        var month: Int?
        var year: Int?

        mutating func take(_ token: Substring.UTF8View) {
            if time == nil, let time = CookieDate.time(token) {
                self.time = time
            } else if day == nil, let day = number(token, digits: 1...2) {
                self.day = day
            } else if month == nil, let month = CookieDate.month(token) {
                self.month = month
            } else if year == nil, let year = number(token, digits: 2...4) {
                self.year = year < 70 ? year + 2000 : year < 100 ? year + 1900 : year
            }
        }

        var date: Date? {
            guard let time, let day, let month, let year else { return nil }
            guard year >= 1601, time[0] <= 23, time[1] <= 59, time[2] <= 59 else { return nil }
            let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
            let length = month == 2 ? (isLeap ? 29 : 28) : [4, 6, 9, 11].contains(month) ? 30 : 31
            guard (1...length).contains(day) else { return nil }
            let seconds = days(year: year, month: month, day: day) * 86_400 + time[0] * 3600 + time[1] * 60 + time[2]
            return Date(timeIntervalSince1970: TimeInterval(seconds))
        }

        /// Days since 1970 in the Gregorian calendar. The calculation begins years in March, so that a leap day is the last day.
        private func days(year: Int, month: Int, day: Int) -> Int {
            let year = month > 2 ? year : year - 1
            let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
            return year * 365 + year / 4 - year / 100 + year / 400 + dayOfYear - 719_468
        }
    }

    private static func isDelimiter(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x09, 0x20...0x2F, 0x3B...0x40, 0x5B...0x60, 0x7B...0x7E: true
        default: false
        }
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (48...57).contains(byte) }

    /// A number at the beginning of a token, followed by the end or by something other than a digit.
    private static func number(_ token: Substring.UTF8View, digits: ClosedRange<Int>) -> Int? {
        let found = token.prefix { isDigit($0) }
        guard digits.contains(found.count) else { return nil }
        return found.reduce(0) { $0 * 10 + Int($1) - 48 }
    }

    /// Hours, minutes and seconds: `8:49:37`.
    private static func time(_ token: Substring.UTF8View) -> [Int]? {
        let parts = token.split(separator: UInt8(ascii: ":"), maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0].allSatisfy(isDigit), parts[1].allSatisfy(isDigit) else { return nil }
        let numbers = parts.compactMap { number($0, digits: 1...2) }
        return numbers.count == 3 ? numbers : nil
    }

    private static let months = Array("janfebmaraprmayjunjulaugsepoctnovdec".utf8)

    private static func month(_ token: Substring.UTF8View) -> Int? {
        let start = token.prefix(3).map { $0 | 0x20 }
        guard start.count == 3 else { return nil }
        return (0..<12).first { months[($0 * 3)..<($0 * 3 + 3)].elementsEqual(start) }.map { $0 + 1 }
    }
}
