import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The field lines of a head as `HTTPURLResponse` takes them. Lines whose names differ in case only are joined by ", " under
/// the spelling of the first one.
package struct JoinedFields: Sendable {
    package private(set) var dictionary: [String: String] = [:]
    /// The spelling of each name, by the name in small letters.
    private var spellings: [String: String] = [:]

    package init() {}

    package mutating func add(_ name: String, value: String) {
        let spelling = spellings[name.lowercased()]
        // Appending in place: a head may repeat a name ten thousand times.
        if let spelling, dictionary[spelling]?.append(", " + value) != nil { return }
        spellings[name.lowercased()] = name
        dictionary[name] = value
    }
}

extension HTTPURLResponse {
    /// The longest `Content-Type` or `Content-Disposition`, in bytes, that is passed to Foundation. On Linux the time to parse it
    /// grows with the square of the length: 4 KB take 1 ms, 90 KB take 140 ms, and joined lines may be longer.
    private static let longestParsedField = 4 << 10
    private static let parsedFields: Set = ["content-type", "content-disposition"]

    /// Creates a response, without a `Content-Type` or `Content-Disposition` of more than 4 KB.
    package static func make(url: URL, status: Int, version: String, fields: [String: String]) -> HTTPURLResponse? {
        var fields = fields
        for (name, value) in fields where value.utf8.count > longestParsedField {
            guard parsedFields.contains(name.lowercased()) else { continue }
            fields[name] = nil
        }
        return HTTPURLResponse(url: url, statusCode: status, httpVersion: version, headerFields: fields)
    }
}
