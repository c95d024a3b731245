import Foundation

/// A challenge that the session can answer.
enum AuthenticationScheme: Sendable, Hashable {
    /// RFC 7617.
    case basic(realm: String)
    /// RFC 7616.
    case digest(DigestChallenge)

    /// libcurl's `CURLAUTH_…`, whose macros Swift does not import.
    static let (curlBasic, curlDigest) = (1 << 0, 1 << 1)

    var curlScheme: Int {
        switch self {
        case .basic: Self.curlBasic
        case .digest: Self.curlDigest
        }
    }

    var realm: String {
        switch self {
        case .basic(let realm): realm
        case .digest(let challenge): challenge.realm
        }
    }

    /// The challenges that the session can answer, strongest first: Digest with SHA-256, Digest with MD5, Basic.
    static func schemes(in challenges: [Challenge]) -> [AuthenticationScheme] {
        challenges.compactMap(AuthenticationScheme.init).sorted { $0.strength > $1.strength }
    }

    private init?(_ challenge: Challenge) {
        switch challenge.scheme {
        case "basic": self = .basic(realm: challenge.parameters["realm"] ?? "")
        case "digest":
            guard let digest = DigestChallenge(challenge.parameters) else { return nil }
            self = .digest(digest)
        default: return nil
        }
    }

    private var strength: Int {
        switch self {
        case .basic: 0
        case .digest(let challenge): challenge.algorithm == .md5 ? 1 : 2
        }
    }

    /// The value of `Authorization` or `Proxy-Authorization`.
    func answer(user: String, password: String, method: String, target: String, nonce: String) -> String {
        switch self {
        case .basic: "Basic " + Data("\(user):\(password)".utf8).base64EncodedString()
        case .digest(let challenge):
            challenge.answer(user: user, password: password, method: method, target: target, clientNonce: nonce)
        }
    }
}
