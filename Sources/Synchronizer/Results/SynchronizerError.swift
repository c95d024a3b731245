import Foundation

/// Why a load failed.
public enum SynchronizerError: Error, Sendable {
    /// The request cannot be sent: it has no URL, an unsupported scheme, a CR, LF or NUL in a header, or white space or a control
    /// character in its method. Nothing was sent.
    case invalidRequest(Context)
    /// No complete response arrived: no connection, a reset, a truncated body, a timeout. The error is usually a `URLError`.
    case transport(any Error, Context)
    /// The final response has a status outside 200–299.
    case status(HTTPURLResponse, Context)
    /// The response is a success with an empty body, which the resource does not accept (``Resource/acceptsEmptyBody``).
    /// `SynchronizerResult` has `.noData` for it.
    case noData(Context)
    /// The body exceeds the limit, in bytes; the rest was not read.
    case tooLarge(limit: Int, Context)
    /// The body could not be parsed. The error is the one that ``Resource/parse`` threw. The stored response was removed, unless
    /// the error of an image does not blame the bytes: your own processing threw, or a limit of the decoder was exceeded.
    case undecodable(any Error, Context)
    /// The body could not be written to its file (``FileResource``): the disk is full, the folder does not exist, … A file that
    /// exists there is unchanged. The cache keeps the bytes that have arrived if they are the whole body, or if the next load can
    /// request the rest.
    case file(FileError, Context)
    /// No stored response may be used, and the network may not be used: because of the cache policy, `only-if-cached`, or
    /// ``Synchronizer/isOffline``.
    case notCached(Context)
    /// ``Synchronizer/Configuration/prepare`` or ``Synchronizer/Configuration/authenticate`` threw this error. Methods that can
    /// report any error, such as ``Synchronizer/load(_:priority:)``, give the caller the error itself instead.
    case hookFailed(any Error, Context)

    /// The context of an error.
    public struct Context: Sendable {
        /// Boxed to keep `Result` small; most results are not errors.
        private final class Content: Sendable {
            let url: URL?
            let trace: LoadTrace
            let head: ResponseHead?
            let body: Data?
            let requested: Date?

            init(url: URL?, trace: LoadTrace, head: ResponseHead?, body: Data?, requested: Date?) {
                self.url = url
                self.trace = trace
                self.head = head
                self.body = body
                self.requested = requested
            }
        }

        private let content: Content

        /// Creates a context, for errors of your own code.
        public init(url: URL?, trace: LoadTrace) {
            self.init(url: url, trace: trace, head: nil, body: nil)
        }

        /// - Parameter requested: when the server was asked for the response of this head, if that is known.
        init(url: URL?, trace: LoadTrace, head: ResponseHead?, body: Data?, requested: Date? = nil) {
            content = Content(url: url, trace: trace, head: head, body: body, requested: requested)
        }

        /// The URL of the original request, also after redirects (see ``LoadTrace/redirects``); nil only if the request had none.
        public var url: URL? { content.url }
        /// How far the load got.
        public var trace: LoadTrace { content.trace }
        /// The body of the response, such as the explanation in a 404; nil if no complete response arrived, or
        /// if its body is too large for an error.
        public var body: Data? { content.body }
        /// The server's response as it was sent; nil if none arrived.
        public var response: URLResponse? { content.head?.urlResponse }

        /// The head of that response.
        var head: ResponseHead? { content.head }

        /// When the server was asked for that response.
        var requested: Date? { content.requested }

        /// The same context for a load of this URL, with another trace.
        func asking(for url: URL?, trace: LoadTrace) -> Context {
            Context(url: url, trace: trace, head: content.head, body: content.body, requested: content.requested)
        }
    }
}

extension SynchronizerError {
    /// Creates the error of a failed transfer: ``file(_:_:)`` if its body could not be written, otherwise ``transport(_:_:)``.
    init(_ error: any Error, context: Context) {
        if let error = error as? FileError { self = .file(error, context) } else { self = .transport(error, context) }
    }

    /// The requested URL, and the trace of the load.
    public var context: Context {
        switch self {
        case .invalidRequest(let context), .transport(_, let context), .status(_, let context),
            .noData(let context), .tooLarge(_, let context), .undecodable(_, let context), .file(_, let context),
            .notCached(let context), .hookFailed(_, let context):
            return context
        }
    }

    /// The same error for a load of this URL. After redirects, the error has the last URL, but callers know only the first one.
    func asking(for url: URL?, tracing: (inout LoadTrace) -> Void = { _ in }) -> SynchronizerError {
        var trace = context.trace
        tracing(&trace)
        let context = context.asking(for: url, trace: trace)
        switch self {
        case .invalidRequest: return .invalidRequest(context)
        case .transport(let error, _): return .transport(error, context)
        case .status(let response, _): return .status(response, context)
        case .noData: return .noData(context)
        case .tooLarge(let limit, _): return .tooLarge(limit: limit, context)
        case .undecodable(let error, _): return .undecodable(error, context)
        case .file(let error, _): return .file(error, context)
        case .notCached: return .notCached(context)
        case .hookFailed(let error, _): return .hookFailed(error, context)
        }
    }

    /// The requested URL.
    public var url: URL? { context.url }

    /// The underlying error: a `URLError`, a `FileError`, or the error that the parse or a hook threw.
    public var underlyingError: (any Error)? {
        switch self {
        case .transport(let error, _), .undecodable(let error, _), .hookFailed(let error, _): return error
        case .file(let error, _): return error
        default: return nil
        }
    }

    /// The error as callers get it: that of a hook is not wrapped.
    package var unwrapped: any Error { if case .hookFailed(let error, _) = self { error } else { self } }
}

extension SynchronizerError: CustomStringConvertible, LocalizedError {
    /// The URL and what went wrong, in English, for a log.
    public var description: String {
        let subject = url?.absoluteString ?? "a request without a URL"
        switch self {
        case .invalidRequest: return "\(subject): \(Self.whyInvalid(url))"
        case .transport(let error, _): return "\(subject): \(Self.words(for: error))"
        case .status(let response, _): return "\(subject): the server answered \(response.statusCode)"
        case .noData: return "\(subject): the body is empty"
        case .tooLarge(let limit, _): return "\(subject): the body is larger than \(limit) bytes"
        case .undecodable(let error, _): return "\(subject): the body could not be parsed: \(error)"
        case .file(let error, _): return "\(subject): \(error)"
        case .notCached: return "\(subject): nothing usable is stored, and the network may not be used"
        case .hookFailed(let error, _): return "\(subject): the request could not be made: \(error)"
        }
    }

    /// The same as ``description``.
    public var errorDescription: String? { description }

    private static func whyInvalid(_ url: URL?) -> String {
        guard let url else { return "cannot be loaded" }
        guard let scheme = url.scheme, !scheme.isEmpty else { return "cannot be loaded: the URL has no scheme" }
        switch scheme.lowercased() {
        case "http", "https":
            return "cannot be loaded: the method, the URL or a header contains a character that is not allowed there"
        case "file", "data": return "cannot be loaded"
        default: return "cannot be loaded: the scheme \"\(scheme)\" is not supported (http, https, file and data are)"
        }
    }

    private static func words(for error: any Error) -> String {
        (error as? URLError).map { "\($0.localizedDescription) (URLError \($0.errorCode))" } ?? "\(error)"
    }
}
