import Dispatch
import HTTPCaching

// What judging a stored response costs: its fields read, and the verdict. It is a program of the main package, because
// HTTPCaching is no product: `swift run -c release VerdictBenchmark`.

let now = Date()
let fields = HTTPFields([
    ("Server", "nginx/1.25.3"), ("Date", HTTPDate.format(now.addingTimeInterval(-100))), ("Content-Type", "image/jpeg"),
    ("Content-Length", "20480"), ("Last-Modified", "Tue, 12 Mar 2024 10:11:12 GMT"), ("Connection", "keep-alive"),
    ("ETag", "\"65f02b30-5000\""), ("Expires", "Thu, 01 Dec 2033 16:00:00 GMT"),
    ("Cache-Control", "public, max-age=31536000, stale-while-revalidate=86400"), ("Accept-Ranges", "bytes"),
    ("Vary", "Accept-Encoding"),
])
let request = CacheRequest(url: "http://127.0.0.1:8000/images/12345.jpg?w=400")
let stored = StoredResponse(
    url: request.url, method: "GET", selectingFields: HTTPFields(), status: 200, fields: fields,
    requestTime: now.addingTimeInterval(-100), responseTime: now.addingTimeInterval(-99.9))
let candidates = [Candidate(stored, bodySize: 20_480)]
let rules = CacheRules()

/// The median of 15 rounds, in microseconds.
func measure(_ name: String, _ body: () -> Int) {
    let count = 20_000
    var sum = 0
    let rounds = (0..<15).map { _ in
        let start = DispatchTime.now().uptimeNanoseconds
        for _ in 0..<count { sum &+= body() }
        return Double(DispatchTime.now().uptimeNanoseconds - start) / Double(count) / 1000
    }
    let microseconds = (rounds.sorted()[7] * 100).rounded() / 100
    print("\(name): \(microseconds) µs (checksum \(sum))")
}

measure("fields read and verdict") {
    if case .reuse(let selection) = rules.decision(for: request, among: candidates, at: now) {
        selection.index + 1
    } else {
        0
    }
}
measure("with the explanation as text") {
    guard case .reuse(let selection) = rules.decision(for: request, among: candidates, at: now) else { return 0 }
    return selection.explanation.description.utf8.count
}
measure("cache key of a URL") { CacheRules.cacheKey(of: request.url).utf8.count }
