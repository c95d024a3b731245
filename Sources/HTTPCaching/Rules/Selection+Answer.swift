extension Selection {
    /// The head of the answer that a selected response gives (RFC 9111 §4): the server's fields, with the current `Age`.
    package func head(of response: StoredResponse, validated: Bool = false) -> (status: Int, fields: HTTPFields) {
        var fields = response.serverFields
        if !validated { fields["Age"] = String(freshness.age.wholeSeconds) }
        switch answer {
        case .stored: return (response.status, fields)
        case .notModified:
            fields.remove(["Content-Length", "Content-Encoding", "Content-Range"])
            return (304, fields)
        case .part(let part, let bytes):
            fields["Content-Range"] = part.contentRange
            fields["Content-Length"] = String(bytes.count)
            return (206, fields)
        }
    }
}
