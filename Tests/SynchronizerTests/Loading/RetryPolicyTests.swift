import Foundation
import HTTPCaching
import TestSupport
import TestTraits
import Testing

@testable import Synchronizer

@Suite("The retry policy", .bounded)
struct RetryPolicyTests {
    let now = Date(timeIntervalSince1970: 1_800_000_000)
    let url = URL(string: "http://a.example/") ?? URL(fileURLWithPath: "/")

    func request(_ method: String = "GET") -> URLRequest {
        var request = URLRequest(url: url)
        request.httpMethod = method
        return request
    }

    func status(_ code: Int, retryAfter: String? = nil) throws -> SynchronizerError {
        let response = HTTPURLResponse(
            url: url, statusCode: code, httpVersion: nil, headerFields: retryAfter.map { ["Retry-After": $0] })
        return .status(try #require(response), .init(url: url, trace: LoadTrace()))
    }

    func transport(_ code: URLError.Code) -> SynchronizerError {
        .transport(URLError(code), .init(url: url, trace: LoadTrace()))
    }

    func delay(
        _ error: SynchronizerError, _ policy: RetryPolicy = RetryPolicy(), method: String = "GET", attempts: Int = 1,
        elapsed: TimeInterval = 0, random: Double = 1
    ) -> TimeInterval? {
        policy.delay(
            after: .init(request: request(method), error: error, attempts: attempts, elapsed: elapsed), at: now,
            jitter: random)
    }

    @Test("is on by default with three tries, and can be turned off")
    func defaults() {
        #expect(Synchronizer.Configuration(urlCache: nil).retry == RetryPolicy())
        #expect(delay(transport(.timedOut), attempts: 2) != nil)
        #expect(delay(transport(.timedOut), attempts: 3) == nil)
        #expect(delay(transport(.timedOut), .none) == nil)
    }

    @Test("tells statuses that pass from those that stay", arguments: 400..<600)
    func statuses(code: Int) throws {
        let passing = [408, 425, 429, 502, 503, 504]
        #expect((delay(try status(code)) != nil) == passing.contains(code))
    }

    @Test(
        "tells failures of the way from those of the request",
        arguments: [
            (URLError.timedOut, true), (.cannotFindHost, true), (.dnsLookupFailed, true), (.cannotConnectToHost, true),
            (.networkConnectionLost, true), (.unknown, false), (.resourceUnavailable, false), (.badURL, false),
            (.unsupportedURL, false), (.cancelled, false), (.badServerResponse, false),
            (.notConnectedToInternet, false),
            (.httpTooManyRedirects, false),
            (.userAuthenticationRequired, false), (.dataLengthExceedsMaximum, false), (.cannotDecodeContentData, false),
        ] as [(URLError.Code, Bool)] + URLError.Code.tlsFailures.map { ($0, false) })
    func codes(code: URLError.Code, isTransient: Bool) {
        #expect((delay(transport(code)) != nil) == isTransient)
    }

    @Test("leaves errors alone that have nothing to do with the network")
    func others() {
        let context = SynchronizerError.Context(url: url, trace: LoadTrace())
        let errors: [SynchronizerError] = [
            .invalidRequest(context), .noData(context), .hookFailed(URLError(.timedOut), context),
            .tooLarge(limit: 1, context), .notCached(context),
            .undecodable(CocoaError(.coderReadCorrupt), context), .transport(CocoaError(.fileReadNoSuchFile), context),
        ]
        for error in errors { #expect(delay(error) == nil, "\(error)") }
    }

    @Test(
        "tries idempotent methods again, and no others (RFC 9110 §9.2.2, RFC 10008 §2)",
        arguments: [
            ("GET", true), ("HEAD", true), ("PUT", true), ("DELETE", true), ("OPTIONS", true), ("TRACE", true),
            ("QUERY", true),
            ("POST", false), ("PATCH", false), ("CONNECT", false), ("PROPFIND", false),
        ])
    func methods(method: String, expected: Bool) {
        #expect((delay(transport(.timedOut), method: method) != nil) == expected)
    }

    @Test("does not send a stream twice")
    func streams() {
        var request = request("PUT")
        request.httpBodyStream = InputStream(data: Data("x".utf8))
        for isSafe in [false, true] { #expect(!RetryPolicy.maySendAgain(request, isSafe: isSafe)) }
        request.httpBodyStream = nil
        request.httpBody = Data("x".utf8)
        #expect(RetryPolicy.maySendAgain(request, isSafe: false))
    }

    @Test(
        "waits between nothing and a bound that doubles, up to its largest",
        arguments: [1: 0.5, 2: 1, 3: 2, 4: 4, 6: 16, 7: 30, 60: 30, 5_000: 30])
    func backoff(attempts: Int, bound: Double) {
        var policy = RetryPolicy()
        policy.maximumAttempts = .max
        #expect(delay(transport(.timedOut), policy, attempts: attempts, random: 0) == 0)
        #expect(delay(transport(.timedOut), policy, attempts: attempts, random: 0.5) == bound / 2)
        #expect(delay(transport(.timedOut), policy, attempts: attempts, random: 1) == bound)
    }

    static let waits: KeyValuePairs<String, TimeInterval?> = [
        "7": 7, " 7 ": 7, "0": 0, "30": 30, "31": nil, "99999999999999999999999999": nil,
        "Fri, 15 Jan 2027 08:00:12 GMT": 12, "Fri, 15 Jan 2027 07:59:00 GMT": 0,
        "Fri, 15 Jan 2027 09:00:00 GMT": nil, "Friday, 15-Jan-27 08:00:05 GMT": 5,
        "Fri Jan 15 08:00:05 2027": 5,
    ]

    @Test("obeys Retry-After in both forms (RFC 9110 §10.2.3)", arguments: 0..<waits.count)
    func retryAfter(number: Int) throws {
        let (field, expected) = Self.waits[number]
        #expect(delay(try status(503, retryAfter: field), random: 0.1) == expected)
    }

    @Test("ignores a malformed Retry-After", arguments: ["", "soon", "-1", "1.5", "１"])
    func badRetryAfter(field: String) throws {
        #expect(delay(try status(503, retryAfter: field), random: 0.5) == 0.25)
    }

    @Test("begins no try after the total time")
    func totalTime() throws {
        #expect(delay(transport(.timedOut), elapsed: 59.5) == 0.5)
        #expect(delay(transport(.timedOut), elapsed: 59.6) == nil)
        #expect(delay(try status(503, retryAfter: "20"), elapsed: 41) == nil)
        #expect(delay(try status(503, retryAfter: "20"), elapsed: 40) == 20)
    }

    @Test("has a budget for each origin, which successes refill by a tenth")
    func budget() {
        var budget = RetryBudget()
        let now = Date(timeIntervalSince1970: 1_800_000_000)
        func expect(_ isLeft: Bool, _ origin: String) {
            let isTaken = budget.take(for: origin, at: now)
            #expect(isTaken == isLeft)
        }
        for _ in 0..<10 { expect(true, "a") }
        expect(false, "a")
        expect(true, "b")
        for _ in 0..<9 { budget.succeeded(at: "a", now: now) }
        expect(false, "a")
        for _ in 0..<2 { budget.succeeded(at: "a", now: now) }
        expect(true, "a")
        expect(false, "a")
        for _ in 0..<1_000 { budget.succeeded(at: "a", now: now) }
        for _ in 0..<10 { expect(true, "a") }
        expect(false, "a")
    }

    @Test("has one more retry for an origin after each minute")
    func budgetAndTime() {
        var budget = RetryBudget()
        let now = Date(timeIntervalSince1970: 1_800_000_000)
        func taken(after seconds: TimeInterval) -> Int {
            var taken = 0
            while budget.take(for: "a", at: now.addingTimeInterval(seconds)) { taken += 1 }
            return taken
        }
        #expect(taken(after: 0) == 10)
        #expect(taken(after: 59) == 0)
        #expect(taken(after: 61) == 1)
        #expect(taken(after: 125) == 1)
        #expect(taken(after: 100_000) == 10)
    }

    @Test("remembers the last thousand origins that have failed")
    func origins() {
        var budget = RetryBudget()
        let now = Date(timeIntervalSince1970: 1_800_000_000)
        for number in 0..<1_001 {
            for _ in 0..<10 { _ = budget.take(for: "\(number)", at: now) }
        }
        let (isOldest, isNext) = (budget.take(for: "0", at: now), budget.take(for: "2", at: now))
        #expect(isOldest)
        #expect(!isNext)
    }
}
