import CCurl

/// The field lines of a request as libcurl takes them. Pure, but for `list`.
enum RequestLines {
    /// Methods that say by `Content-Length: 0` that they have no body (RFC 9110 §8.6).
    static let expectBody: Set<String> = ["POST", "PUT", "PATCH"]

    /// The lines of a request: the session's fields, and the request's own in place of those with the same name.
    ///
    /// Fields with a name that is not a token, or a line break or NUL in the value, are left out: they would become other
    /// fields. So are the ones that libcurl derives from the body.
    static func lines(
        _ session: [String: String], _ own: [String: String], _ body: RequestBody, method: String
    ) -> [String] {
        var fields = session
        for (name, value) in own { set(&fields, name, value) }
        let isOwn = { (name: String) in own.keys.contains { $0.lowercased() == name } }
        // A part of a compressed body could not be decompressed.
        if isOwn("range"), !isOwn("accept-encoding") { set(&fields, "Accept-Encoding", "identity") }
        for name in ["Content-Length", "Transfer-Encoding"] { set(&fields, name, nil) }
        var lines = fields.compactMap { line($0.key, $0.value) }
        // libcurl waits a second for a 100 that many servers never send.
        if !body.isEmpty { lines.append("Expect:") }
        if body.isEmpty, expectBody.contains(method), !isOwn("content-type") { lines.append("Content-Type:") }
        if !body.isEmpty, method == "POST", !isOwn("content-type") {
            lines.append("Content-Type: application/x-www-form-urlencoded")
        }
        return lines
    }

    /// Sets a field in place of those with the same name in another case.
    static func set(_ fields: inout [String: String], _ name: String, _ value: String?) {
        let lowercased = name.lowercased()
        for other in fields.keys where other.lowercased() == lowercased { fields[other] = nil }
        fields[name] = value
    }

    private static func line(_ name: String, _ value: String) -> String? {
        let isToken = name.utf8.allSatisfy { $0 > 32 && $0 < 127 && $0 != UInt8(ascii: ":") && $0 != UInt8(ascii: ";") }
        guard !name.isEmpty, isToken else { return nil }
        guard value.utf8.allSatisfy({ $0 != 0 && $0 != 10 && $0 != 13 }) else { return nil }
        let isBlank = value.utf8.allSatisfy { $0 == 32 || $0 == 9 }
        return isBlank ? "\(name);" : "\(name): \(value)"
    }

    /// libcurl's list of the lines, to be freed by `curl_slist_free_all`.
    static func list(_ lines: [String]) -> UnsafeMutablePointer<curl_slist>? {
        var list: UnsafeMutablePointer<curl_slist>?
        for line in lines { list = curl_slist_append(list, line) ?? list }
        return list
    }
}
