/// Removes dot segments from paths (RFC 3986 §5.2.4). As in browsers, `%2e` counts as a dot. Pure.
enum DotSegments {
    /// - Parameter path: A percent-encoded path that begins with a slash.
    static func removed(from path: String) -> String {
        guard mayBe(in: path) else { return path }
        var kept: [Substring.UTF8View] = []
        let segments = path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).dropFirst()
        for (index, segment) in segments.enumerated() {
            let dots = dots(segment)
            if dots == 0 { kept.append(segment) }
            if dots == 2 { _ = kept.popLast() }
            if dots > 0, index == segments.count - 1 { kept.append(""[...].utf8) }
        }
        return kept.reduce(into: "") { path, segment in
            path.append("/")
            path.append(contentsOf: Substring(segment))
        }
    }

    /// Whether a URL has a segment that begins with `.` or `%`, as every dot segment does.
    static func mayBe(in url: String) -> Bool {
        var isFirst = false
        for byte in url.utf8 {
            if isFirst, byte == UInt8(ascii: ".") || byte == UInt8(ascii: "%") { return true }
            isFirst = byte == UInt8(ascii: "/")
        }
        return false
    }

    /// The number of dots if the segment consists of one or two dots; 0 for any other segment.
    private static func dots(_ segment: Substring.UTF8View) -> Int {
        var (rest, count) = (segment, 0)
        while let first = rest.first, count < 3 {
            let isEscaped = first == UInt8(ascii: "%")
            let length = isEscaped ? 3 : 1
            guard isEscaped ? isEscapedDot(rest.prefix(3)) : first == UInt8(ascii: ".") else { return 0 }
            rest = rest.dropFirst(length)
            count += 1
        }
        return rest.isEmpty && count < 3 ? count : 0
    }

    private static func isEscapedDot(_ bytes: Substring.UTF8View) -> Bool {
        bytes.elementsEqual("%2e".utf8) || bytes.elementsEqual("%2E".utf8)
    }
}
