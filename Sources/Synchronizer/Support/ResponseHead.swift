import Foundation
import HTTPCaching

extension URLResponse {
    /// Whether it is an interim head (RFC 9110 §15.2): the answer is still to come. After a 101 none would.
    package var isInterim: Bool {
        guard let status = (self as? HTTPURLResponse)?.statusCode else { return false }
        return (100..<200).contains(status) && status != 101
    }
}

/// A response without its body, made into a `URLResponse` only when somebody looks: on Linux that costs as much as
/// reading 20 KB from the disk.
package struct ResponseHead: Sendable {
    private enum Content: Sendable {
        case made(URLResponse)
        case http(url: URL, status: Int, fields: HTTPFields)
    }

    private let content: Content

    package init(_ response: URLResponse) {
        content = .made(response)
    }

    package init(url: URL, status: Int, fields: HTTPFields) {
        content = .http(url: url, status: status, fields: fields)
    }

    /// The value of a field; nil if there is none, or if the response is not one of HTTP.
    package func value(of field: String) -> String? {
        switch content {
        case .made(let response): return (response as? HTTPURLResponse)?.value(forHTTPHeaderField: field)
        case .http(_, _, let fields): return fields[field]
        }
    }

    /// All fields; none if the response is not one of HTTP.
    package var fields: HTTPFields {
        switch content {
        case .made(let response): return (response as? HTTPURLResponse).map { HTTPFields(of: $0) } ?? HTTPFields()
        case .http(_, _, let fields): return fields
        }
    }

    /// Made anew at each call.
    package var urlResponse: URLResponse {
        switch content {
        case .made(let response): return response
        case .http(let url, let status, let fields):
            var dictionary: [String: String] = [:]
            for line in fields.lines where dictionary[line.name] == nil { dictionary[line.name] = fields[line.name] }
            return HTTPURLResponse(
                url: url, statusCode: status, httpVersion: "HTTP/1.1", headerFields: dictionary)
                ?? URLResponse(url: url, mimeType: nil, expectedContentLength: -1, textEncodingName: nil)
        }
    }
}
