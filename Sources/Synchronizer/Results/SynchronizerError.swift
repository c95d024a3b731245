import Foundation

/// Why a load gave no object.
public enum SynchronizerError: Error, Sendable {
    /// The request cannot be sent: no URL, a scheme that is not supported, or a character that would end a line (CR, LF,
    /// NUL) in its method or a field. Nothing was sent.
    case invalidRequest(Context)
    /// No complete response came: no connection, a reset, a body cut short, a time-out. The error is mostly a `URLError`.
    case transport(any Error, Context)
    /// The server's final answer has a status outside 200–299.
    case status(HTTPURLResponse, Context)
    /// The server answered with success and an empty body.
    case emptyBody(Context)
    /// The body is larger than the limit, in bytes. It was not read further.
    case tooLarge(limit: Int, Context)
    /// The body could not be parsed; the error is what ``Resource/parse`` threw. The stored response has been dropped.
    case undecodable(any Error, Context)
    /// The request allows no network, by its cache policy or by `only-if-cached`, and no stored response may be used.
    case notCached(Context)

    /// What every case knows.
    public struct Context: Sendable {
        /// In one object: results are passed on and kept that are mostly no errors, and should not be large for them.
        private final class Content: Sendable {
            let url: URL?
            let trace: LoadTrace
            let head: ResponseHead?
            let body: Data?

            init(url: URL?, trace: LoadTrace, head: ResponseHead?, body: Data?) {
                self.url = url
                self.trace = trace
                self.head = head
                self.body = body
            }
        }

        private let content: Content

        /// A context, for errors that a caller's own code makes.
        public init(url: URL?, trace: LoadTrace) {
            self.init(url: url, trace: trace, head: nil, body: nil)
        }

        init(url: URL?, trace: LoadTrace, head: ResponseHead?, body: Data?) {
            content = Content(url: url, trace: trace, head: head, body: body)
        }

        /// What was asked for, also after redirects (see ``LoadTrace/redirects``); nil only if the request had no URL.
        public var url: URL? { content.url }
        /// How far the load came.
        public var trace: LoadTrace { content.trace }
        /// What the server said with its answer, such as the explanation in a 404; nil if no complete answer came.
        public var body: Data? { content.body }
        /// The server's answer, as it sent it; nil if none came.
        public var response: URLResponse? { content.head?.urlResponse }

        /// The same, of a load that asked for this URL.
        func asking(for url: URL?) -> Context {
            url == content.url
                ? self : Context(url: url, trace: content.trace, head: content.head, body: content.body)
        }
    }
}

extension SynchronizerError {
    /// The URL that was asked for, and the trace of the load.
    public var context: Context {
        switch self {
        case .invalidRequest(let context), .transport(_, let context), .status(_, let context),
            .emptyBody(let context), .tooLarge(_, let context), .undecodable(_, let context), .notCached(let context):
            return context
        }
    }

    /// The same, of a load that asked for this URL: what fails is the last hop of a redirect, and what its callers know
    /// is the first.
    func asking(for url: URL?) -> SynchronizerError {
        let context = context.asking(for: url)
        switch self {
        case .invalidRequest: return .invalidRequest(context)
        case .transport(let error, _): return .transport(error, context)
        case .status(let response, _): return .status(response, context)
        case .emptyBody: return .emptyBody(context)
        case .tooLarge(let limit, _): return .tooLarge(limit: limit, context)
        case .undecodable(let error, _): return .undecodable(error, context)
        case .notCached: return .notCached(context)
        }
    }

    /// The URL that was asked for.
    public var url: URL? { context.url }

    /// The error below this one: a `URLError`, or what the parse threw.
    public var underlyingError: (any Error)? {
        switch self {
        case .transport(let error, _), .undecodable(let error, _): return error
        default: return nil
        }
    }
}

extension SynchronizerError: CustomStringConvertible, LocalizedError {
    /// The URL and what went wrong, in English, for a log.
    public var description: String {
        let subject = url?.absoluteString ?? "a request without URL"
        switch self {
        case .invalidRequest: return "\(subject): \(Self.whyInvalid(url))"
        case .transport(let error, _): return "\(subject): \(Self.words(for: error))"
        case .status(let response, _): return "\(subject): the server answered \(response.statusCode)"
        case .emptyBody: return "\(subject): the body is empty"
        case .tooLarge(let limit, _): return "\(subject): the body is larger than \(limit) bytes"
        case .undecodable(let error, _): return "\(subject): the body could not be parsed: \(error)"
        case .notCached: return "\(subject): nothing usable is stored, and the request allows no network"
        }
    }

    /// The same as ``description``.
    public var errorDescription: String? { description }

    private static func whyInvalid(_ url: URL?) -> String {
        guard let url else { return "cannot be loaded" }
        guard let scheme = url.scheme, !scheme.isEmpty else { return "cannot be loaded: the URL has no scheme" }
        guard !["http", "https", "file", "data"].contains(scheme.lowercased()) else { return "cannot be loaded" }
        return "cannot be loaded: the scheme \"\(scheme)\" is not supported (http, https, file and data are)"
    }

    private static func words(for error: any Error) -> String {
        (error as? URLError).map { "\($0.localizedDescription) (URLError \($0.errorCode))" } ?? "\(error)"
    }
}
