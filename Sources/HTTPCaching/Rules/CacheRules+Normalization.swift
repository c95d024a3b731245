extension CacheRules {
    /// The normal form of a field value: requests with equal normalized values select the same response (RFC 9111 §4.1). In any
    /// list, white space around commas and empty members do not count. In the `Accept…` fields, case, the order of members and
    /// the spelling of weights do not count, either (RFC 9110 §12.4, §12.5).
    @inline(never)
    static func normalized(_ value: String, of name: String) -> String {
        let members = members(of: value)
        guard let kind = Negotiation(name) else { return members.joined(separator: ",") }
        return members.map { kind.normalized(member: $0) }.sorted().joined(separator: ",")
    }

    /// The trimmed members of a list; a separator in a quoted string does not separate members.
    private static func members(of value: String, separatedBy separator: UInt8 = UInt8(ascii: ",")) -> [String] {
        value.scan { scanner in
            var members: [String] = []
            scanner.skipSeparators(separator)
            while !scanner.isAtEnd {
                let start = scanner.position
                _ = scanner.skip(to: separator)
                members.append(trimmed(scanner.text(start..<scanner.position)))
                scanner.skipSeparators(separator)
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

        private static let others = [
            FieldName.acceptEncoding, FieldName.acceptLanguage, FieldName.acceptCharset,
        ]

        init?(_ name: String) {
            if HTTPFields.same(name, FieldName.accept) {
                self = .accept
            } else if Self.others.contains(where: { HTTPFields.same($0, name) }) {
                self = .other
            } else {
                return nil
            }
        }

        /// A member such as `text/html;level=1;q=0.5`. Media type parameters may be case-sensitive.
        func normalized(member: String) -> String {
            let parts = CacheRules.members(of: member, separatedBy: UInt8(ascii: ";"))
            let parameters = parts.dropFirst().compactMap(parameter)
            return ([parts.first?.lowercased() ?? ""] + parameters).joined(separator: ";")
        }

        private func parameter(_ text: String) -> String? {
            guard text.lowercased().hasPrefix("q=") else { return self == .accept ? text : text.lowercased() }
            guard let weight = Self.weight(text.dropFirst(2)) else { return text }
            return weight == 1 ? nil : "q=\(weight)"
        }

        /// A weight from 0 to 1 with at most three decimals (RFC 9110 §12.4.2); nil if it is none.
        private static func weight(_ text: Substring) -> Double? {
            let point = text.dropFirst().first ?? "."
            guard text.hasPrefix("0") || text.hasPrefix("1"), point == ".", text.utf8.count <= 5,
                text.dropFirst(2).allSatisfy({ ("0"..."9").contains($0) }), let weight = Double(text + "0"),
                weight <= 1
            else { return nil }
            return weight
        }
    }
}
