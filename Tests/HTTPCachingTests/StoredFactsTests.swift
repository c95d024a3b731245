import Foundation
import Testing

@testable import HTTPCaching

@Suite("Facts that are decided when a response is stored")
struct StoredFactsTests {
    /// What the tables of freshness and of all decisions say of stored responses.
    private static let rules: [Rule] =
        ReuseTable.rules
        + (FreshnessTable.lifetimes + FreshnessTable.ages).map {
            Rule($0.id, $0.section, [$0.stored], at: $0.moment, "", "")
        }

    private func decided(_ candidate: Candidate) throws -> Candidate {
        let encoded = StoredFacts(deciding: candidate.response).encoded
        #expect(encoded.count == StoredFacts.encodedSize)
        var decided = candidate
        decided.response.decide(by: try #require(encoded.withUnsafeBytes { StoredFacts(encoded: $0) }))
        return decided
    }

    @Test("judge a response as its fields do, also after they were encoded", arguments: rules)
    func agreement(_ rule: Rule) throws {
        let decided = try rule.stored.map(decided)
        let now = Moment.at(rule.moment)
        for (one, other) in zip(decided, rule.stored) {
            #expect(one.response.facts == StoredFacts(deciding: other.response))
            let (fresh, expected) = (one.response, other.response)
            #expect(rule.rules.freshness(of: fresh, at: now) == rule.rules.freshness(of: expected, at: now))
            #expect(rule.rules.expiration(of: fresh, at: now) == rule.rules.expiration(of: expected, at: now))
            #expect(rule.rules.usefulPeriod(of: fresh, at: now) == rule.rules.usefulPeriod(of: expected, at: now))
        }
        let requests = [rule.request, .get("Range: bytes=0-1"), .get("If-None-Match: \"1\""), .get("Cookie: a=b")]
        for request in requests {
            let decision = rule.rules.decision(for: request, among: decided, at: now)
            #expect(decision == rule.rules.decision(for: request, among: rule.stored, at: now))
        }
    }

    @Test("judge a response whose fields say something else, until it is changed")
    func differentFields() {
        let other = Candidate.response("Cache-Control: max-age=600\nVary: *").response
        let plain = Candidate.response("Cache-Control: max-age=60").response
        var response = plain
        response.decide(by: other.facts)
        #expect(CacheRules().freshness(of: response, at: Moment.at(100)).lifetime == 600)
        #expect(!CacheRules.selects(response, for: .get()))
        #expect(Candidate(response, bodySize: 1).response.facts == other.facts)
        let changes: [(inout StoredResponse) -> Void] = [
            { $0.fields.add("A", value: "1") }, { $0.status = 203 }, { $0.requestTime += 1 }, { $0.responseTime += 1 },
            { $0.injectedCacheControl = "max-age=60" },
        ]
        for change in changes {
            var changed = response
            change(&changed)
            #expect(CacheRules().freshness(of: changed, at: Moment.at(100)).lifetime == 60)
        }
    }

    @Test("are neither compared nor encoded")
    func equality() throws {
        let plain = Candidate.response("Cache-Control: max-age=60").response
        var response = plain
        response.decide(by: Candidate.response("Cache-Control: max-age=600").response.facts)
        #expect(response == plain && response.hashValue == plain.hashValue)
        let decoded = try JSONDecoder().decode(StoredResponse.self, from: JSONEncoder().encode(response))
        #expect(decoded == plain && decoded.facts == plain.facts)
    }

    @Test("bytes that encode no facts are refused")
    func malformed() {
        let bytes = Candidate.response("").response.facts.encoded
        for count in 0..<bytes.count {
            #expect(bytes.withUnsafeBytes { StoredFacts(encoded: .init(rebasing: $0[..<count])) } == nil)
        }
        var changed = bytes
        changed[2] = 0xFF  // the rule
        #expect(changed.withUnsafeBytes { StoredFacts(encoded: $0) } == nil)
    }
}
