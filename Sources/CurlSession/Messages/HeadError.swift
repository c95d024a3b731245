import Foundation

/// Why a head is invalid.
enum HeadError: Error, Sendable, Hashable {
    /// The maximum number of bytes in the heads and trailers of an exchange.
    static let maximumBytes = 256 << 10
    /// The maximum number of interim heads before the final one.
    static let maximumInterimHeads = 64

    case malformedStatusLine
    /// A NUL in a line.
    case forbiddenByte
    /// Different, invalid or ambiguous lengths of the body.
    case invalidBodyLength
    /// A transfer coding that is not a token, or `chunked` with parameters.
    case invalidTransferCoding
    case tooLarge
    case tooManyInterimHeads
    /// A 101 that no request asked for.
    case unexpectedUpgrade
    /// A redirect to more than one place.
    case ambiguousLocation

    var urlError: URLError {
        URLError(self == .tooLarge ? .dataLengthExceedsMaximum : .badServerResponse, because: reason)
    }

    private var reason: String {
        switch self {
        case .malformedStatusLine: "the status line is malformed"
        case .forbiddenByte: "a header has a NUL"
        case .invalidBodyLength: "the length of the body is invalid, or there are several lengths"
        case .invalidTransferCoding: "the transfer coding is invalid"
        case .tooLarge: "the headers are larger than \(Self.maximumBytes >> 10) KB"
        case .tooManyInterimHeads: "there are more than \(Self.maximumInterimHeads) interim responses"
        case .unexpectedUpgrade: "the server switches to another protocol, for which the request did not ask"
        case .ambiguousLocation: "the response redirects to several places"
        }
    }
}
