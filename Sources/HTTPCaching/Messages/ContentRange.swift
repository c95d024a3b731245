extension StoredResponse.Part {
    /// The part that a `Content-Range` describes (RFC 9110 §14.4); nil if it is not in bytes, or invalid.
    package init?(contentRange text: String) {
        let part = text.scan { scanner -> StoredResponse.Part? in
            scanner.skipWhitespace()
            guard scanner.take("bytes "), let first = scanner.number(), scanner.take("-"), let last = scanner.number(),
                first <= last, last < Int.max, scanner.take("/")
            else { return nil }
            // Without a number it is as invalid as a length of 0.
            let length = scanner.take("*") ? nil : scanner.number() ?? 0
            if let length, length <= last { return nil }
            scanner.skipWhitespace()
            return scanner.isAtEnd ? .init(range: first..<(last + 1), completeLength: length) : nil
        }
        guard let part else { return nil }
        self = part
    }

    /// The `Content-Range` value that describes this part.
    package var contentRange: String {
        "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(completeLength.map(String.init) ?? "*")"
    }
}
