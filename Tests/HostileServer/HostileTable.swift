import Foundation

/// The table of `Documentation/Linux.md`: one row for all cases with the same result.
public enum HostileTable {
    /// The table as Markdown.
    public static var markdown: String {
        (["| The server | What you get | When | Stored |", "| --- | --- | --- | --- |"] + rows).joined(separator: "\n")
    }

    private static var rows: [String] {
        var rows: [(row: String, ending: String, variants: [String])] = []
        for hostile in HostileCase.all {
            let place = rows.firstIndex { $0 == (hostile.row, hostile.ending, $0.variants) }
            if let place {
                rows[place].variants.append(hostile.variant)
            } else {
                rows.append((hostile.row, hostile.ending, [hostile.variant]))
            }
        }
        return rows.map { "| \(text($0.row, $0.variants)) | \($0.ending) |" }
    }

    private static func text(_ row: String, _ variants: [String]) -> String {
        variants == [""] ? row : "\(row): \(variants.map(escaped).joined(separator: "; "))"
    }

    /// Quotes a variant with characters that mean something in Markdown, that can't be seen or look like others, or with
    /// blanks or separators at its ends.
    private static func escaped(_ variant: String) -> String {
        guard let first = variant.first, let last = variant.last else { return "nothing" }
        let shown = variant.unicodeScalars.map(Self.visible).joined()
        let plain = shown.replacingOccurrences(of: "|", with: "\\|")
        let isOdd =
            shown != variant || variant.contains { "<[/%=\"".contains($0) }
            || [first, last].contains { $0.isWhitespace || ",;".contains($0) }
        return isOdd ? "`\(plain)`" : plain
    }

    /// Writes white space other than a blank, and digits other than ASCII's, as Swift does.
    private static func visible(_ scalar: Unicode.Scalar) -> String {
        let properties = scalar.properties
        guard scalar != " ", properties.isWhitespace || !scalar.isASCII && properties.numericType != nil else {
            return String(scalar)
        }
        return "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
    }
}

extension HostileCase {
    fileprivate var ending: String { "\(outcome) | \(wait.rawValue) | \(isStored ? "yes" : "no")" }
}

extension HostileCase.Outcome: CustomStringConvertible {
    public var description: String {
        switch self {
        case .response(status: 200, let body) where body.count > 20: "the whole response"
        case .response(status: 200, let body): "the response: “\(String(decoding: body, as: UTF8.self))”"
        case .response(let status, let body) where body.isEmpty: "\(status), without a body"
        case .response(let status, _): "\(status) with its body"
        case .error(let code): "`URLError.\(Self.name(of: code))`"
        case .tooLarge: "`SynchronizerError.tooLarge`"
        }
    }

    private static func name(of code: URLError.Code) -> String {
        names[code] ?? "\(code.rawValue)"
    }

    private static let names: [URLError.Code: String] = [
        .networkConnectionLost: "networkConnectionLost", .timedOut: "timedOut", .badServerResponse: "badServerResponse",
        .dataLengthExceedsMaximum: "dataLengthExceedsMaximum", .cannotDecodeContentData: "cannotDecodeContentData",
        .cannotDecodeRawData: "cannotDecodeRawData", .cannotParseResponse: "cannotParseResponse", .badURL: "badURL",
        .unsupportedURL: "unsupportedURL", .cannotFindHost: "cannotFindHost",
        .cannotConnectToHost: "cannotConnectToHost",
        .httpTooManyRedirects: "httpTooManyRedirects",
    ]
}
