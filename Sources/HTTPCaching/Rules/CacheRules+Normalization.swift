extension SelectingFields {
    /// A value with all that does not change its meaning taken out: two requests whose values are then equal select the
    /// same response (RFC 9111 §4.1). For any list that is white space around its commas and empty members; for the
    /// `Accept…` fields also case, the order of the members, and ways to write a weight (RFC 9110 §12.4, §12.5).
    static func normalized(_ name: String, _ value: String) -> String {
        let members = members(of: value)
        guard let kind = Negotiation(name) else { return members.joined(separator: ",") }
        return members.map { kind.normalized(member: $0) }.sorted().joined(separator: ",")
    }

    /// The members of a list, trimmed; commas in quoted strings do not part them.
    private static func members(of value: String) -> [String] {
        value.scan { scanner in
            var members: [String] = []
            scanner.skipSeparators()
            while !scanner.isAtEnd {
                let start = scanner.position
                _ = scanner.skipToComma()
                members.append(trimmed(scanner.text(start..<scanner.position)))
                scanner.skipSeparators()
            }
            return members
        }
    }

    private static func trimmed(_ text: some StringProtocol) -> String {
        let isSpace: (Character) -> Bool = { $0 == " " || $0 == "\t" }
        var text = Substring(text).drop(while: isSpace)
        while let last = text.last, isSpace(last) { text.removeLast() }
        return String(text)
    }

    private enum Negotiation {
        case accept, other

        init?(_ name: String) {
            if HTTPFields.same(name, "Accept") {
                self = .accept
            } else if ["Accept-Encoding", "Accept-Language", "Accept-Charset"].contains(where: {
                HTTPFields.same($0, name)
            }) {
                self = .other
            } else {
                return nil
            }
        }

        /// Such as `text/html;level=1;q=0.5`. The values of media type parameters may be case-sensitive.
        func normalized(member: String) -> String {
            let parts = member.split(separator: ";", omittingEmptySubsequences: true).map(SelectingFields.trimmed)
            let parameters = parts.dropFirst().compactMap(parameter)
            return ([parts.first?.lowercased() ?? ""] + parameters).joined(separator: ";")
        }

        private func parameter(_ text: String) -> String? {
            guard text.lowercased().hasPrefix("q=") else { return self == .accept ? text : text.lowercased() }
            let weight = Double(text.dropFirst(2)) ?? 1
            return weight == 1 ? nil : "q=\(weight)"
        }
    }
}
