/// The date of an HTTP field (RFC 9110 §5.6.7): IMF-fixdate, RFC 850 or asctime. Case does not matter, as RFC 9111
/// §4.2 asks; all else must be exactly as in the grammar, GMT included.
package enum HTTPDate {
    /// The date in a field value; nil if the value is not a date.
    /// - Parameter moment: decides the century of a two-digit year: the date is at most 50 years after this moment.
    package static func parse(_ text: String, at moment: Date) -> Date? {
        text.scan { parse(&$0, at: moment) }
    }

    /// Parses the rest of the scanner's text in the same way.
    @inline(never)
    static func parse(_ scanner: inout FieldScanner, at moment: Date) -> Date? {
        scanner.skipWhitespace()
        let parsed = date(&scanner, at: moment)
        scanner.skipWhitespace()
        return scanner.isAtEnd ? parsed : nil
    }

    private static func date(_ scanner: inout FieldScanner, at moment: Date) -> Date? {
        let weekday = scanner.token()
        if scanner.take(", ") {
            if weekdays.contains(where: { scanner.matches(in: weekday, name: $0) }) { return fixdate(&scanner) }
            guard longWeekdays.contains(where: { scanner.matches(in: weekday, name: $0) }) else { return nil }
            return rfc850(&scanner, at: moment)
        }
        guard weekdays.contains(where: { scanner.matches(in: weekday, name: $0) }), scanner.take(" ") else {
            return nil
        }
        return asctime(&scanner)
    }

    /// `06 Nov 1994 08:49:37 GMT`
    private static func fixdate(_ scanner: inout FieldScanner) -> Date? {
        guard let day = scanner.number(ofDigits: 2), scanner.take(" "), let month = month(&scanner), scanner.take(" "),
            let year = scanner.number(ofDigits: 4), scanner.take(" "), let time = time(&scanner), scanner.take(" GMT")
        else { return nil }
        return date(year: year, month: month, day: day, seconds: time)
    }

    /// `06-Nov-94 08:49:37 GMT`
    private static func rfc850(_ scanner: inout FieldScanner, at moment: Date) -> Date? {
        guard let dayOfMonth = scanner.number(ofDigits: 2), scanner.take("-"), let month = month(&scanner),
            scanner.take("-"),
            let year = scanner.number(ofDigits: 2), scanner.take(" "), let time = time(&scanner), scanner.take(" GMT")
        else { return nil }
        let century = civilDate(onDay: day(of: moment)).year / 100 * 100
        let latest = moment.addingTimeInterval(50 * 365.2425 * 86_400)
        return [century + 100, century, century - 100].lazy
            .compactMap { date(year: $0 + year, month: month, day: dayOfMonth, seconds: time) }.first { $0 <= latest }
    }

    /// `Nov  6 08:49:37 1994`
    private static func asctime(_ scanner: inout FieldScanner) -> Date? {
        guard let month = month(&scanner), scanner.take(" "),
            let day = scanner.take(" ") ? scanner.number(ofDigits: 1) : scanner.number(ofDigits: 2),
            scanner.take(" "), let time = time(&scanner), scanner.take(" "), let year = scanner.number(ofDigits: 4)
        else { return nil }
        return date(year: year, month: month, day: day, seconds: time)
    }

    private static func month(_ scanner: inout FieldScanner) -> Int? {
        for (index, name) in months.enumerated() where scanner.take(name) { return index + 1 }
        return nil
    }

    /// The seconds since midnight; a leap second is allowed (RFC 9110 §5.6.7).
    private static func time(_ scanner: inout FieldScanner) -> Int? {
        guard let hour = scanner.number(ofDigits: 2), hour < 24, scanner.take(":"),
            let minute = scanner.number(ofDigits: 2), minute < 60, scanner.take(":"),
            let second = scanner.number(ofDigits: 2), second <= 60
        else { return nil }
        return hour * 3600 + minute * 60 + second
    }

    private static func date(year: Int, month: Int, day: Int, seconds: Int) -> Date? {
        guard day >= 1, day <= lastDay(of: month, in: year) else { return nil }
        return Date(
            timeIntervalSince1970: TimeInterval(daysSince1970(year: year, month: month, day: day)) * 86_400
                + TimeInterval(seconds))
    }

    private static func lastDay(of month: Int, in year: Int) -> Int {
        switch month {
        case 2: return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: return 30
        default: return 31
        }
    }

    static let weekdays: [StaticString] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
    static let longWeekdays: [StaticString] = [
        "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday",
    ]
    static let months: [StaticString] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
}

extension HTTPDate {
    /// A date as an IMF-fixdate, such as `Sun, 06 Nov 1994 08:49:37 GMT`; fractions of a second are dropped.
    package static func format(_ date: Date) -> String {
        let day = day(of: date)
        let (year, month, dayOfMonth) = civilDate(onDay: day)
        let seconds = Int(bounded(date) - TimeInterval(day) * 86_400)
        let time = [seconds / 3600, seconds / 60 % 60, seconds % 60].map { digits($0, count: 2) }.joined(separator: ":")
        let weekday = weekdays[((day + 3) % 7 + 7) % 7]
        return "\(weekday), \(digits(dayOfMonth, count: 2)) \(months[month - 1]) \(digits(year, count: 4)) \(time) GMT"
    }

    private static func digits(_ number: Int, count: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, count - text.utf8.count)) + text
    }

    /// Seconds since 1970, limited to the years 0 to 9999: a corrupt cache can contain any number.
    private static func bounded(_ date: Date) -> TimeInterval {
        let seconds = date.timeIntervalSince1970
        return seconds.isNaN ? 0 : min(max(seconds, -62_167_219_200.0), 253_402_300_799.0)
    }

    private static func day(of date: Date) -> Int { Int((bounded(date) / 86_400).rounded(.down)) }

    // Both functions use the proleptic Gregorian calendar, in eras of 400 years. Their years begin in March, so that a leap day
    // is the last day of a year. Day 0 is 1 January 1970.

    private static func daysSince1970(year: Int, month: Int, day: Int) -> Int {
        let year = month <= 2 ? year - 1 : year
        let era = (year >= 0 ? year : year - 399) / 400
        let yearOfEra = year - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    private static func civilDate(onDay day: Int) -> (year: Int, month: Int, day: Int) {
        let day = day + 719_468
        let era = (day >= 0 ? day : day - 146_096) / 146_097
        let dayOfEra = day - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
    }
}
