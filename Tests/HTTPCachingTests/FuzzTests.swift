import Foundation
import HTTPCaching
import TestTraits
import Testing

/// The rules meet bytes that no server should send. The numbers are seeded: a failure comes back.
@Suite("Hostile fields")
struct FuzzTests {
    static let templates = [
        "max-age=60", "no-store", "no-cache", "must-revalidate", "public", "private", "immutable", "must-understand",
        "stale-while-revalidate=30", "stale-if-error=30", "s-maxage=5", "no-cache=\"A, B\"", "max-stale", "min-fresh=5",
        "only-if-cached", "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
        "bytes=0-4", "bytes=-5", "bytes 0-4/10", "bytes 2-11/*", "\"1\"", "W/\"1\"", "*", "A, B", "Accept-Language",
        "en;q=0.5, de", "30", "7200, 0", "gzip", "99999999999999999999", "/y", "http://a.example/z", "", ",", "\"", "=",
    ]

    static let responseNames = [
        "Cache-Control", "Expires", "Date", "Age", "Last-Modified", "ETag", "Vary", "Content-Range", "Content-Length",
        "Content-Encoding", "Connection", "Location", "Content-Location", "Pragma", "X",
    ]

    static let requestNames = [
        "Cache-Control", "Pragma", "Range", "If-Range", "If-None-Match", "If-Modified-Since", "If-Match",
        "Accept-Language", "A",
    ]

    /// Random bytes, or templates strung together and corrupted.
    struct Source {
        var numbers: SeededNumbers

        mutating func value() -> String {
            var bytes: [UInt8] = []
            if numbers.below(4) == 0 {
                for _ in 0..<numbers.below(40) { bytes.append(UInt8(truncatingIfNeeded: numbers.next())) }
            } else {
                for _ in 0...numbers.below(3) {
                    if !bytes.isEmpty { bytes += numbers.below(2) == 0 ? Array(", ".utf8) : Array(",".utf8) }
                    bytes += Array(FuzzTests.templates[numbers.below(FuzzTests.templates.count)].utf8)
                }
                for _ in 0..<numbers.below(3) where !bytes.isEmpty { corrupt(&bytes) }
            }
            return Self.text(bytes)
        }

        /// Each byte as the character of that number, which is what clients make of fields (RFC 9110 §5.5).
        private static func text(_ bytes: [UInt8]) -> String {
            guard bytes.contains(where: { $0 >= 0x80 }) else { return String(decoding: bytes, as: UTF8.self) }
            let encoded = bytes.flatMap { $0 < 0x80 ? [$0] : [0xC0 | $0 >> 6, 0x80 | $0 & 0x3F] }
            return String(decoding: encoded, as: UTF8.self)
        }

        private mutating func corrupt(_ bytes: inout [UInt8]) {
            let place = numbers.below(bytes.count)
            switch numbers.below(4) {
            case 0: bytes[place] = UInt8(truncatingIfNeeded: numbers.next())
            case 1: bytes.remove(at: place)
            case 2: bytes.insert(Array("\",=;* \\\t0-".utf8)[numbers.below(10)], at: place)
            default: bytes += bytes[place...]
            }
        }

        mutating func fields(_ names: [String], _ limit: Int = 5) -> HTTPFields {
            var fields = HTTPFields()
            for _ in 0..<numbers.below(limit) {
                let name = names[numbers.below(names.count)]
                fields.add(numbers.below(3) == 0 ? name.lowercased() : name, value: value())
            }
            return fields
        }

        mutating func request() -> CacheRequest {
            let methods = ["GET", "GET", "GET", "HEAD", "POST", "FOO"]
            let policies = CachePolicy.allCases
            return CacheRequest(
                url: CacheRequest.url, method: methods[numbers.below(methods.count)],
                fields: fields(FuzzTests.requestNames, 3), policy: policies[numbers.below(policies.count)])
        }

        mutating func candidate(_ asked: CacheRequest) -> Candidate {
            let statuses = [200, 200, 200, 206, 301, 404, 599]
            let fields = fields(FuzzTests.responseNames)
            let status = statuses[numbers.below(statuses.count)]
            let size = numbers.below(12)
            let times: [Double] = [0, -10, 10, -1e6, 1e6, .nan, .infinity, -1e300]
            let response = StoredResponse(
                url: CacheRequest.url, method: "GET",
                selectingFields: CacheRules.selectingFields(of: asked, for: fields),
                status: status, fields: fields, requestTime: Moment.at(times[numbers.below(times.count)]),
                responseTime: Moment.at(times[numbers.below(times.count)]),
                part: status == 206 ? CacheRules.part(of: fields, bodySize: size) : nil)
            return Candidate(response, bodySize: size)
        }
    }

    /// Judges a request by the stored responses. Returns what is wrong with the verdict.
    static func exercise(_ source: inout Source) -> String? {
        let asked = source.request()
        let stored = (0...source.numbers.below(8) / 7).map { _ in source.candidate(asked) }
        let request = source.numbers.below(4) == 0 ? source.request() : asked
        let verdict = CacheRules().decision(for: request, among: stored, at: Moment.arrival)
        if source.numbers.below(8) == 0 { exerciseTheRest(&source, request, stored) }
        return complaint(about: verdict, stored)
    }

    /// All else that the rules do with a request, stored responses and an answer.
    private static func exerciseTheRest(_ source: inout Source, _ request: CacheRequest, _ stored: [Candidate]) {
        let answer = source.fields(responseNames)
        _ = CacheRules.objection(toStoring: 200, fields: answer, answering: request)
        _ = CacheRules.storedFields(of: answer, receivedAt: Moment.arrival)
        _ = CacheRules.invalidatedKeys(after: request, status: 200, fields: answer)
        _ = CacheRules.candidates(confirmedBy: answer, among: stored, for: request)
        _ = CacheRules.injectedCacheControl(status: 200, fields: answer, cacheTime: 60, overriding: true)
        for (index, candidate) in stored.enumerated() {
            _ = CacheRules.confirmation(by: answer, asked: index, among: stored, for: request)
            _ = CacheRules.headUpdates(candidate, by: answer, for: request)
            _ = CacheRules.combination(of: candidate, with: 206, fields: answer, bodySize: source.numbers.below(12))
            _ = CacheRules().expiration(of: candidate.response, at: Moment.arrival)
        }
    }

    /// What is wrong with a verdict; nil if nothing is.
    static func complaint(about verdict: CacheDecision, _ stored: [Candidate]) -> String? {
        guard case .reuse(let selection) = verdict, stored.indices.contains(selection.index) else {
            guard case .reuseWhileRevalidating(let selection, _) = verdict else { return nil }
            return saysNoStore(stored[selection.index]) ? "reused in spite of no-store" : nil
        }
        let candidate = stored[selection.index]
        _ = selection.head(of: candidate.response)
        _ = selection.explanation.description
        if saysNoStore(candidate) { return "reused in spite of no-store: \(candidate.response.fields)" }
        guard case .part(let part, let bytes) = selection.answer else { return nil }
        let fits = bytes.lowerBound >= 0 && bytes.upperBound <= candidate.bodySize && part.range.count == bytes.count
        return fits ? nil : "bytes \(bytes) of \(candidate.bodySize)"
    }

    /// Told apart from the rules' own parser: the directive stands between commas of a line without any quotes.
    static func saysNoStore(_ candidate: Candidate) -> Bool {
        let lines = candidate.response.fields.values(of: "Cache-Control")
        let directives = lines.filter { !$0.contains("\"") }.flatMap { $0.split(separator: ",") }
            .map { $0.trimmingCharacters(in: CharacterSet(charactersIn: " \t")).lowercased() }
        return directives.contains("no-store") && !lines.contains { $0.lowercased().contains("must-understand") }
    }

    @Test("never trap, and are never reason to reuse what says no-store", arguments: 0..<8)
    func fuzz(seed: Int) {
        var source = Source(numbers: SeededNumbers(seed: UInt64(seed)))
        for round in 0..<Soak.count(3_000, inSoak: 30_000) {
            if let complaint = Self.exercise(&source) {
                Issue.record("seed \(seed), round \(round): \(complaint)")
                return
            }
        }
    }

    @Test("with no-store anywhere in a list never let a response be reused", arguments: 0..<4)
    func noStore(seed: Int) {
        var source = Source(numbers: SeededNumbers(seed: UInt64(1000 + seed)))
        for round in 0..<Soak.count(1_000, inSoak: 10_000) {
            let asked = source.request()
            var candidate = source.candidate(asked)
            candidate.response.fields.remove("Cache-Control")
            candidate.response.fields.add("Cache-Control", value: "max-age=600")
            candidate.response.fields.add(
                "Cache-Control", value: source.value().filter { !"\"u".contains($0) } + ",no-store")
            guard !CacheRules().decision(for: asked, among: [candidate], at: Moment.arrival).isReuse else {
                Issue.record("seed \(seed), round \(round): \(candidate.response.fields)")
                return
            }
        }
    }
}

/// SplitMix64.
struct SeededNumbers {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
        // Seeds that follow each other must not give one sequence shifted.
        state = next() ^ seed &* 0xD6E8_FEB8_6659_FD93
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }

    mutating func below(_ limit: Int) -> Int { Int(next() % UInt64(max(1, limit))) }
}
