import CCurl

/// The field lines of a request as libcurl takes them. Pure, except `list`.
enum RequestLines {
    /// Methods whose requests without a body are sent with `Content-Length: 0` (RFC 9110 §8.6).
    static let expectBody: Set<String> = ["POST", "PUT", "PATCH"]

    /// The lines of a request: the session's fields and the request's own, which replace those with the same name.
    ///
    /// The fields that libcurl derives from the body are left out, and so is `Expect`. Fields with a flaw are left out, too, because
    /// they would become other fields; but a task with such a field fails before this is called.
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
        for name in [FieldName.contentLength, FieldName.transferEncoding, FieldName.expect] {
            fields.setField(name, to: nil)
        }
        var lines = fields.compactMap { line(name: $0.key, value: $0.value) }
        // Otherwise libcurl waits a second for a 100 (Continue) that many servers never send, and sends the request again after
        // a 417.
        if !body.isEmpty { lines.append("\(FieldName.expect):") }
        if body.isEmpty, expectBody.contains(method), !isOwn(FieldName.contentType) {
            lines.append("\(FieldName.contentType):")
        }
        if !body.isEmpty, method == "POST", !isOwn(FieldName.contentType) {
            lines.append("\(FieldName.contentType): application/x-www-form-urlencoded")
        }
        return lines
    }

    /// A sentence that names the field and says why it can't be sent; nil if it can be sent.
    ///
    /// The sentence is for logs, so it does not contain the value. Of a name that is not a token, it contains only the start,
    /// because such a name may contain a whole line with its value.
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

    /// The line of a field; nil if it can't be sent.
    static func line(name: String, value: String) -> String? {
        guard flaw(name: name, value: value) == nil else { return nil }
        let isBlank = value.utf8.allSatisfy { $0 == 32 || $0 == 9 }
        return isBlank ? "\(name);" : "\(name): \(value)"
    }

    /// The lines as a list of libcurl's. The caller frees it with `curl_slist_free_all`.
    static func list(_ lines: [String]) -> UnsafeMutablePointer<curl_slist>? {
        var list: UnsafeMutablePointer<curl_slist>?
        for line in lines { list = curl_slist_append(list, line) ?? list }
        return list
    }
}

extension [String: String] {
    /// Sets a field, and removes fields with the same name in another case.
    mutating func setField(_ name: String, to value: String?) {
        for other in keys where other.isFieldName(name) { self[other] = nil }
        self[name] = value
    }
}
