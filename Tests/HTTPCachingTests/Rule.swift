import Foundation
import HTTPCaching
import Testing

/// One line of a table: what is to be done about a request, given the stored responses. `Documentation/RFC9111.md` refers to
/// it by its id.
struct Rule: Sendable, CustomTestStringConvertible {
    let id: String
    /// The section of RFC 9111, unless another document is named.
    let section: String
    let request: CacheRequest
    let stored: [Candidate]
    /// Seconds from `Moment.arrival`.
    let moment: TimeInterval
    let expected: String
    let reason: String
    var rules = CacheRules()

    init(
        _ id: String, _ section: String, _ request: CacheRequest = .get(), _ stored: [Candidate],
        at moment: TimeInterval,
        _ expected: String, _ reason: String, rules: CacheRules = CacheRules()
    ) {
        self.id = id
        self.section = section
        self.request = request
        self.stored = stored
        self.moment = moment
        self.expected = expected
        self.reason = reason
        self.rules = rules
    }

    /// For a plain `GET`.
    init(
        _ id: String, _ section: String, _ stored: [Candidate], at moment: TimeInterval, _ expected: String,
        _ reason: String, rules: CacheRules = CacheRules()
    ) {
        self.init(id, section, .get(), stored, at: moment, expected, reason, rules: rules)
    }

    var testDescription: String { "\(id) (\(section)): \(reason)" }

    func check(sourceLocation: SourceLocation = #_sourceLocation) {
        let verdict = rules.decision(for: request, among: stored, at: Moment.at(moment))
        #expect(verdict.summary == expected, "\(testDescription)", sourceLocation: sourceLocation)
    }
}

/// The moments of the tables.
enum Moment {
    /// When responses arrive, if nothing else is said: Fri, 15 Jan 2027 08:00:00 GMT.
    static let arrival = Date(timeIntervalSince1970: 1_800_000_000)

    static func at(_ seconds: TimeInterval) -> Date { arrival.addingTimeInterval(seconds) }

    /// As a field says it.
    static func field(_ seconds: TimeInterval) -> String { HTTPDate.format(at(seconds)) }
}

extension HTTPFields {
    /// Lines as they stand in a message.
    init(lines: String) {
        self.init(
            lines.split(separator: "\n").map { line in
                let colon = line.firstIndex(of: ":") ?? line.endIndex
                let value = line[colon...].dropFirst()
                return (String(line[..<colon]), value.trimmingCharacters(in: .whitespaces))
            })
    }
}

extension CacheRequest {
    static let url = "http://a.example/x"

    static func get(_ lines: String = "", policy: CachePolicy = .useProtocol, session: String = "") -> CacheRequest {
        request("GET", lines, policy: policy, session: session)
    }

    static func request(
        _ method: String, _ lines: String = "", policy: CachePolicy = .useProtocol, session: String = "",
        url: String = CacheRequest.url
    ) -> CacheRequest {
        CacheRequest(
            url: url, method: method, fields: HTTPFields(lines: lines), sessionHeaders: HTTPFields(lines: session),
            policy: policy)
    }
}

extension Candidate {
    /// A response that was stored, as a server sent it to a request with the fields `asked`.
    static func response(
        _ lines: String, status: Int = 200, arrived: TimeInterval = 0, delay: TimeInterval = 0,
        asked: CacheRequest = .get(),
        size: Int = 10, url: String = CacheRequest.url, method: String = "GET", injected: String? = nil,
        siblings: [Candidate] = []
    ) -> Candidate {
        let fields = HTTPFields(lines: lines)
        let response = StoredResponse(
            url: url, method: method,
            selectingFields: CacheRules.selectingFields(of: asked, for: fields, among: siblings.map(\.response)),
            status: status,
            fields: fields, requestTime: Moment.at(arrived - delay), responseTime: Moment.at(arrived),
            part: status == 206 ? CacheRules.part(of: fields, bodySize: size) : nil, injectedCacheControl: injected)
        return Candidate(response, bodySize: size)
    }
}

extension CacheDecision {
    /// Such as `validate 0 If-None-Match`, `forward`, `reuse 0 bytes 2..<5`.
    var summary: String {
        switch self {
        case .reuse(let selection): return "reuse \(selection.summary)"
        case .reuseWhileRevalidating(let selection, let fields):
            return "background \(selection.summary)\(fields.summary)"
        case .validate(let selection, let fields): return "validate \(selection.summary)\(fields.summary)"
        case .complete(let selection, let fields, let start):
            return "complete \(selection.summary) from \(start)\(fields.summary)"
        case .forward(let fields, _, _): return "forward\(fields.summary)"
        case .refuse: return "refuse"
        }
    }

    var isReuse: Bool {
        switch self {
        case .reuse, .reuseWhileRevalidating: return true
        case .validate, .complete, .forward, .refuse: return false
        }
    }
}

extension Selection {
    fileprivate var summary: String {
        switch answer {
        case .stored: return "\(index)"
        case .part(_, let bytes): return "\(index) bytes \(bytes)"
        case .notModified: return "\(index) as 304"
        }
    }
}

extension HTTPFields {
    fileprivate var summary: String {
        isEmpty ? "" : " " + lines.map(\.name).sorted().joined(separator: ",")
    }
}
