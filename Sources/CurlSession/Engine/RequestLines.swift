import CCurl

/// The field lines of a request as libcurl takes them. Pure, but for `list`.
enum RequestLines {
    /// Methods that say by `Content-Length: 0` that they have no body (RFC 9110 §8.6).
    static let expectBody: Set<String> = ["POST", "PUT", "PATCH"]

    /// The lines of a request: the session's fields, and the request's own in place of those with the same name.
    ///
    /// Fields with a flaw are left out, because they would become other fields: a task with one fails before it gets here. So are
    /// the fields that libcurl derives from the body.
    static func lines(
        session: [String: String], own: [String: String], body: RequestBody, method: String
    ) -> [String] {
        var fields = session
        for (name, value) in own { fields.setField(name, to: value) }
        let isOwn = { (name: String) in own.keys.contains { $0.isFieldName(name) } }
        // A part of a compressed body could not be decompressed.
        if isOwn(FieldName.range), !isOwn(FieldName.acceptEncoding) {
            fields.setField(FieldName.acceptEncoding, to: "identity")
        }
        for name in [FieldName.contentLength, FieldName.transferEncoding] { fields.setField(name, to: nil) }
        var lines = fields.compactMap { line(name: $0.key, value: $0.value) }
        // libcurl waits a second for a 100 that many servers never send.
        if !body.isEmpty { lines.append("Expect:") }
        if body.isEmpty, expectBody.contains(method), !isOwn(FieldName.contentType) {
            lines.append("\(FieldName.contentType):")
        }
        if !body.isEmpty, method == "POST", !isOwn(FieldName.contentType) {
            lines.append("\(FieldName.contentType): application/x-www-form-urlencoded")
        }
        return lines
    }

    /// Why a field can't be sent, in words that name it; nil if it can be sent.
    ///
    /// The words are for logs. So they do not have the value, and of a name that is not a token they have only the start: a
    /// whole line with its value could be in it.
    static func flaw(name: String, value: String) -> String? {
        let start = name.utf8.prefix { $0 > 32 && $0 < 127 && $0 != UInt8(ascii: ":") && $0 != UInt8(ascii: ";") }
        guard !name.isEmpty else { return "A field of the request has no name." }
        guard start.endIndex == name.utf8.endIndex else {
            return "The name of a field of the request is not a token. It begins with \"\(Substring(start))\"."
        }
        guard value.utf8.allSatisfy({ $0 != 0 && $0 != 10 && $0 != 13 }) else {
            return "The value of the field \(name) has a line break or NUL."
        }
        return nil
    }

    private static func line(name: String, value: String) -> String? {
        guard flaw(name: name, value: value) == nil else { return nil }
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

extension [String: String] {
    /// Sets a field in place of those with the same name in another case.
    mutating func setField(_ name: String, to value: String?) {
        for other in keys where other.isFieldName(name) { self[other] = nil }
        self[name] = value
    }
}
