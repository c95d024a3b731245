import Foundation
import HTTPCaching
import Testing

/// RFC 9111 §4.2: lifetimes and ages.
@Suite("Freshness")
struct FreshnessTable {
    /// A response, its age and lifetime at a moment, and what gave it the lifetime.
    struct Case: Sendable, CustomTestStringConvertible {
        let id: String
        let section: String
        let stored: Candidate
        let moment: TimeInterval
        let age: TimeInterval
        let lifetime: TimeInterval
        let rule: LifetimeRule

        init(
            _ id: String, _ section: String, _ stored: Candidate, at moment: TimeInterval = 0, age: TimeInterval = 0,
            _ lifetime: TimeInterval, _ rule: LifetimeRule
        ) {
            self.id = id
            self.section = section
            self.stored = stored
            self.moment = moment
            self.age = age
            self.lifetime = lifetime
            self.rule = rule
        }

        var testDescription: String { "\(id) (\(section))" }
    }

    static let forever = Double.maximumDeltaSeconds
    static let day = 86_400.0

    static let lifetimes = [
        Case("lifetime.max-age", "4.2.1", .response("Cache-Control: max-age=60"), 60, .maxAge),
        Case("lifetime.zero", "4.2.1", .response("Cache-Control: max-age=0"), 0, .maxAge),
        Case("lifetime.no-s-maxage", "4.2.1", .response("Cache-Control: s-maxage=60"), 0, .none),
        Case(
            "lifetime.max-age-before-s-maxage", "4.2.1", .response("Cache-Control: s-maxage=600, max-age=60"), 60,
            .maxAge
        ),
        Case(
            "lifetime.max-age-before-expires", "5.3",
            .response("Cache-Control: max-age=60\nExpires: \(Moment.field(600))"), 60, .maxAge),
        Case(
            "lifetime.expires", "4.2.1", .response("Date: \(Moment.field(0))\nExpires: \(Moment.field(60))"), 60,
            .expires),
        Case("lifetime.expires-undated", "4.2.1", .response("Expires: \(Moment.field(60))"), 60, .expires),
        Case(
            "lifetime.expires-by-date", "4.2.1", .response("Date: \(Moment.field(-30))\nExpires: \(Moment.field(60))"),
            age: 30, 90, .expires),
        Case("lifetime.expires-past", "5.3", .response("Expires: \(Moment.field(-60))"), 0, .expires),
        Case("lifetime.expires-zero", "5.3", .response("Expires: 0"), 0, .expires),
        Case("lifetime.expires-invalid", "5.3", .response("Expires: tomorrow"), 0, .expires),
        Case("lifetime.expires-not-gmt", "4.2", .response("Expires: Fri, 15 Jan 2027 09:00:00 UTC"), 0, .expires),
        Case(
            "lifetime.expires-case", "4.2", .response("Expires: FRI, 15 jan 2027 08:01:00 gmt"), 60, .expires),
        Case(
            "lifetime.expires-first", "4.2.1",
            .response("Expires: \(Moment.field(60))\nExpires: \(Moment.field(600))"), 60, .expires),
        Case("lifetime.first-max-age", "4.2.1", .response("Cache-Control: max-age=60, max-age=600"), 60, .maxAge),
        Case(
            "lifetime.first-max-age-lines", "4.2.1",
            .response("Cache-Control: max-age=60\nCache-Control: max-age=600"), 60, .maxAge),
        Case("lifetime.quoted", "5.2", .response("Cache-Control: max-age=\"60\""), 60, .maxAge),
        Case("lifetime.case", "5.2", .response("CACHE-CONTROL: MAX-AGE=60"), 60, .maxAge),
        Case("lifetime.large", "1.2.2", .response("Cache-Control: max-age=2147483648"), forever, .maxAge),
        Case(
            "lifetime.overflow", "1.2.2", .response("Cache-Control: max-age=99999999999999999999999999"), forever,
            .maxAge),
        Case("lifetime.leading-zeros", "1.2.2", .response("Cache-Control: max-age=0000060"), 60, .maxAge),
        Case("lifetime.fraction", "4.2.1", .response("Cache-Control: max-age=60.5"), 0, .maxAge),
        Case("lifetime.negative", "4.2.1", .response("Cache-Control: max-age=-60"), 0, .maxAge),
        Case("lifetime.letters", "4.2.1", .response("Cache-Control: max-age=60s"), 0, .maxAge),
        Case("lifetime.single-quotes", "4.2.1", .response("Cache-Control: max-age='60'"), 0, .maxAge),
        Case("lifetime.no-value", "4.2.1", .response("Cache-Control: max-age"), 0, .maxAge),
        Case("lifetime.empty-value", "4.2.1", .response("Cache-Control: max-age="), 0, .maxAge),
        Case("lifetime.space-before", "5.2", .response("Cache-Control: max-age =60"), 0, .maxAge),
        Case("lifetime.space-after", "5.2", .response("Cache-Control: max-age= 60"), 0, .maxAge),
        Case("lifetime.in-quotes", "5.2", .response("Cache-Control: foo=\"max-age=600\", max-age=60"), 60, .maxAge),
        Case(
            "lifetime.injected", "4.2.1", .response("Cache-Control: max-age=60", injected: "max-age=60"), 60,
            .injected),
        Case("lifetime.none", "4.2.2", .response("ETag: \"1\""), 0, .none),
        Case(
            "heuristic.fraction", "4.2.2", .response("Last-Modified: \(Moment.field(-1000))"), 100, .heuristic),
        Case(
            "heuristic.by-date", "4.2.2",
            .response("Date: \(Moment.field(-500))\nLast-Modified: \(Moment.field(-1000))"), age: 500, 50, .heuristic),
        Case(
            "heuristic.limit", "4.2.2", .response("Last-Modified: \(Moment.field(-1000 * day))"), 7 * day, .heuristic),
        Case("heuristic.future", "4.2.2", .response("Last-Modified: \(Moment.field(1000))"), 0, .heuristic),
        Case(
            "heuristic.not-explicit", "4.2.2",
            .response("Cache-Control: max-age=0\nLast-Modified: \(Moment.field(-1000))"), 0, .maxAge),
        Case(
            "heuristic.not-expires", "4.2.2", .response("Expires: 0\nLast-Modified: \(Moment.field(-1000))"), 0,
            .expires),
        Case(
            "heuristic.not-status", "4.2.2", .response("Last-Modified: \(Moment.field(-1000))", status: 403), 0, .none),
        Case(
            "heuristic.public", "4.2.2",
            .response("Cache-Control: public\nLast-Modified: \(Moment.field(-1000))", status: 403), 100, .heuristic),
    ]

    static let ages = [
        Case("age.resident", "4.2.3", .response("Cache-Control: max-age=60"), at: 10, age: 10, 60, .maxAge),
        Case(
            "age.apparent", "4.2.3", .response("Cache-Control: max-age=60\nDate: \(Moment.field(-20))"), at: 10,
            age: 30, 60, .maxAge),
        Case(
            "age.future-date", "4.2.3", .response("Cache-Control: max-age=60\nDate: \(Moment.field(20))"), at: 10,
            age: 10, 60, .maxAge),
        Case("age.value", "4.2.3", .response("Cache-Control: max-age=60\nAge: 30"), at: 10, age: 40, 60, .maxAge),
        Case(
            "age.delay", "4.2.3", .response("Cache-Control: max-age=60\nAge: 30", delay: 5), at: 10, age: 45, 60,
            .maxAge),
        Case(
            "age.larger-counts", "4.2.3",
            .response("Cache-Control: max-age=60\nAge: 30\nDate: \(Moment.field(-50))"), at: 0, age: 50, 60, .maxAge),
        Case("age.first-member", "5.1", .response("Cache-Control: max-age=60\nAge: 30, 50"), age: 30, 60, .maxAge),
        Case("age.first-line", "5.1", .response("Cache-Control: max-age=60\nAge: 30\nAge: 50"), age: 30, 60, .maxAge),
        Case("age.invalid", "5.1", .response("Cache-Control: max-age=60\nAge: old"), age: 0, 60, .maxAge),
        Case("age.negative", "5.1", .response("Cache-Control: max-age=60\nAge: -30"), age: 0, 60, .maxAge),
        Case("age.fraction", "5.1", .response("Cache-Control: max-age=60\nAge: 30.5"), age: 0, 60, .maxAge),
        Case(
            "age.overflow", "1.2.2", .response("Cache-Control: max-age=60\nAge: 99999999999999999999"), age: forever,
            60,
            .maxAge),
        Case("age.clock-adjusted", "4.2.3", .response("Cache-Control: max-age=60"), at: -5, age: 0, 60, .maxAge),
        Case(
            "age.clock-set-back", "4.2.3", .response("Cache-Control: max-age=60"), at: -3600, age: .infinity, 60,
            .maxAge),
    ]

    @Test("lifetimes are as the table says", arguments: lifetimes + ages)
    func lifetime(_ test: Case) {
        let freshness = CacheRules().freshness(of: test.stored.response, at: Moment.at(test.moment))
        #expect(
            freshness == Freshness(age: test.age, lifetime: test.lifetime, rule: test.rule), "\(test.testDescription)")
    }

    @Test("the statuses of RFC 9110 §15.1 are heuristically cacheable, and no others")
    func heuristicStatuses() {
        let statuses = (200...599).filter { status in
            let stored = Candidate.response("Last-Modified: \(Moment.field(-1000))", status: status)
            return CacheRules().freshness(of: stored.response, at: Moment.arrival).rule == .heuristic
        }
        #expect(statuses == [200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414, 501])
    }

    @Test("a clock that says nothing sensible makes responses stale, and nothing else")
    func impossibleTimes() {
        for seconds in [Double.nan, .infinity, -.infinity, 1e300, -1e300] {
            var response = Candidate.response("Cache-Control: max-age=60").response
            response.responseTime = Date(timeIntervalSince1970: seconds)
            let freshness = CacheRules().freshness(of: response, at: Moment.arrival)
            #expect(!freshness.isFresh)
            #expect(!"\(freshness)".isEmpty)
            #expect(CacheRules().freshness(of: response, at: response.responseTime).age.wholeSeconds >= 0)
            #expect(HTTPDate.format(response.responseTime).utf8.count == 29)
        }
    }

    @Test("an object made from a response may be used until the response expires, and not at all if it must be judged")
    func expiration() {
        let rules = CacheRules()
        for (lines, moment, expected) in [
            ("Cache-Control: max-age=60", 10.0, Moment.at(60)), ("Cache-Control: max-age=60", 70, .distantPast),
            ("Cache-Control: max-age=60, no-cache", 10, .distantPast),
            ("Cache-Control: max-age=60, no-store", 10, .distantPast),
            ("Cache-Control: max-age=60, no-cache=\"A\"", 10, .distantPast),
            ("Cache-Control: max-age=60\nVary: *", 10, .distantPast), ("A: 1", 10, .distantPast),
        ] {
            let response = Candidate.response(lines).response
            #expect(rules.expiration(of: response, at: Moment.at(moment)) == expected, "\(lines)")
        }
    }
}
