/// A Digest challenge (RFC 7616), and the answer to it. Pure.
///
/// Supports SHA-256 and MD5 with and without `-sess`, `qop=auth` or no `qop`, and `userhash`. A challenge that requires anything
/// else (`auth-int`, SHA-512-256) cannot be answered.
struct DigestChallenge: Sendable, Hashable {
    enum Algorithm: Sendable, Hashable { case md5, sha256 }

    var realm: String
    var nonce: String
    var opaque: String?
    var algorithm = Algorithm.md5
    var isSession = false
    var hasQuality = false
    var hashesUser = false
    /// Whether the credential was right, and only the nonce was too old.
    var isStale = false
    private var algorithmName: String?

    init?(_ parameters: [String: String]) {
        guard let nonce = parameters["nonce"], let realm = parameters["realm"] else { return nil }
        (self.realm, self.nonce, opaque) = (realm, nonce, parameters["opaque"])
        algorithmName = parameters["algorithm"]
        switch algorithmName?.lowercased() ?? "md5" {
        case "md5": break
        case "md5-sess": isSession = true
        case "sha-256": algorithm = .sha256
        case "sha-256-sess": (algorithm, isSession) = (.sha256, true)
        default: return nil
        }
        if let qualities = parameters["qop"] {
            hasQuality = qualities.split(whereSeparator: { ", \t".contains($0) }).contains { $0.lowercased() == "auth" }
            guard hasQuality else { return nil }
        }
        hashesUser = parameters["userhash"]?.lowercased() == "true"
        isStale = parameters["stale"]?.lowercased() == "true"
    }

    /// - Parameter target: The path and the query of the request.
    func answer(user: String, password: String, method: String, target: String, clientNonce: String) -> String {
        var secret = hash("\(user):\(realm):\(password)")
        if isSession { secret = hash("\(secret):\(nonce):\(clientNonce)") }
        let request = hash("\(method):\(target)")
        let middle = hasQuality ? "\(nonce):00000001:\(clientNonce):auth" : nonce
        var parts = [
            "username=\(quoted(hashesUser ? hash("\(user):\(realm)") : user))", "realm=\(quoted(realm))",
            "nonce=\(quoted(nonce))", "uri=\(quoted(target))", "response=\"\(hash("\(secret):\(middle):\(request)"))\"",
        ]
        if let algorithmName { parts.append("algorithm=\(token(algorithmName))") }
        if hasQuality { parts += ["qop=auth", "nc=00000001"] }
        if hasQuality || isSession { parts.append("cnonce=\(quoted(clientNonce))") }
        if let opaque { parts.append("opaque=\(quoted(opaque))") }
        if hashesUser { parts.append("userhash=true") }
        return "Digest " + parts.joined(separator: ", ")
    }

    private func hash(_ text: String) -> String {
        switch algorithm {
        case .md5: Hashing.md5(Array(text.utf8))
        case .sha256: Hashing.sha256(Array(text.utf8))
        }
    }

    private func quoted(_ text: String) -> String {
        let escaped = text.unicodeScalars.flatMap { $0 == "\"" || $0 == "\\" ? ["\\", $0] : [$0] }
        return "\"\(String(String.UnicodeScalarView(escaped)))\""
    }

    /// The name of the algorithm as a token. `init` has accepted the name.
    private func token(_ name: String) -> String { name.filter { $0.isASCII && $0 != "\"" } }
}
