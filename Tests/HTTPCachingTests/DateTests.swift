import Foundation
import HTTPCaching
import TestTraits
import Testing

@Suite("Dates")
struct DateTests {
    @Test(
        "are read in the three formats of RFC 9110 §5.6.7, without regard to case",
        arguments: [
            "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
            "SUN, 06 NOV 1994 08:49:37 gmt", "sunday, 06-nov-94 08:49:37 Gmt", "sun nov  6 08:49:37 1994",
            "  Sun, 06 Nov 1994 08:49:37 GMT ",
        ])
    func formats(text: String) {
        #expect(HTTPDate.parse(text, at: Moment.arrival) == Date(timeIntervalSince1970: 784_111_777))
    }

    @Test(
        "are not read in any other way",
        arguments: [
            "", "0", "-1", "now", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 UTC",
            "Sun, 06 Nov 1994 08:49:37 +0000", "Sun, 06 Nov 1994 08:49:37 CET", "06 Nov 1994 08:49:37 GMT",
            "Sun 06 Nov 1994 08:49:37 GMT", "Sun, 6 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 94 08:49:37 GMT",
            "Sun, 06 Nov 1994 8:49:37 GMT", "Sun, 06 Nov 1994 08:49 GMT", "Sun, 06 Nov 1994 08.49.37 GMT",
            "Sun,06 Nov 1994 08:49:37 GMT", "Sun,  06 Nov 1994 08:49:37 GMT", "Sun, 06  Nov 1994 08:49:37 GMT",
            "Sun, 06-Nov-1994 08:49:37 GMT", "Sun, 06 Foo 1994 08:49:37 GMT", "Foo, 06 Nov 1994 08:49:37 GMT",
            "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, 31 Nov 1994 08:49:37 GMT", "Wed, 29 Feb 1995 08:49:37 GMT",
            "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 06 Nov 1994 08:60:37 GMT", "Sun, 06 Nov 1994 08:49:61 GMT",
            "Sun, 06 Nov 1994 08:49:37 GMT x", "Sun, 06 Nov 1994 08:49:37 GMT, x", "1994-11-06T08:49:37Z",
            "Sunday, 06 Nov 1994 08:49:37 GMT", "Sun, 06-Nov-94 08:49:37 GMT", "Sun Nov 6 08:49:37 1994",
            "Sun Nov 06 08:49:37 94", "Sun, 06 Nov 1994 08:49:37 GMT\u{0}", "Sun, ٠٦ Nov 1994 08:49:37 GMT",
        ])
    func invalid(text: String) {
        #expect(HTTPDate.parse(text, at: Moment.arrival) == nil)
    }

    @Test("with a two-digit year are at most 50 years ahead")
    func century() {
        for (year, expected) in [("27", 2027), ("76", 2076), ("77", 2077), ("78", 1978), ("99", 1999), ("00", 2000)] {
            let date = HTTPDate.parse("Friday, 01-Jan-\(year) 00:00:00 GMT", at: Moment.arrival)
            #expect(date.map(HTTPDate.format)?.contains(" \(expected) ") == true, "\(year)")
        }
        let eighties = HTTPDate.parse("Sun, 06 Nov 2084 08:49:37 GMT", at: Moment.arrival) ?? .distantPast
        let next = HTTPDate.parse("Sunday, 06-Nov-10 08:49:37 GMT", at: eighties)
        #expect(next.map(HTTPDate.format)?.contains(" 2110 ") == true)
    }

    /// Every eleventh day; in a soak, each.
    @Test("are written as they are read, on days of 800 years")
    func roundTrip() {
        for day in stride(from: -146_097, through: 146_097, by: Soak.isOn ? 1 : 11) {
            let date = Date(timeIntervalSince1970: Double(day) * 86_400 + 3661)
            let text = HTTPDate.format(date)
            guard HTTPDate.parse(text, at: date) == date else {
                Issue.record("\(text)")
                return
            }
        }
        #expect(HTTPDate.format(Date(timeIntervalSince1970: 784_111_777.9)) == "Sun, 06 Nov 1994 08:49:37 GMT")
    }
}
