import Foundation
import FoundationNetworking
import SynchronizerSupport

/// The `async` methods.
///
/// Foundation declares these methods in an extension, so they cannot be overridden. Calls through a variable of type
/// ``CurlSession`` use the methods below. Calls through a variable of type `URLSession` use Foundation's methods, which send the
/// request over Foundation's session.
extension CurlSession {
    public typealias CompletionHandler = @Sendable (Data?, URLResponse?, (any Error)?) -> Void

    /// Loads a request. Cancelling the Swift task cancels the request.
    public func data(for request: URLRequest) async throws -> (Data, URLResponse) {
        try await load { self.dataTask(with: request, completionHandler: $0) }
    }

    /// Loads a request, with a delegate that is asked about redirects and challenges.
    public func data(
        for request: URLRequest, delegate: any URLSessionTaskDelegate
    ) async throws -> (Data, URLResponse) {
        try await load(delegate) { self.dataTask(with: request, completionHandler: $0) }
    }

    /// Loads a URL.
    public func data(from url: URL) async throws -> (Data, URLResponse) {
        try await data(for: URLRequest(url: url))
    }

    /// Loads a URL, with a delegate that is asked about redirects and challenges.
    public func data(from url: URL, delegate: any URLSessionTaskDelegate) async throws -> (Data, URLResponse) {
        try await data(for: URLRequest(url: url), delegate: delegate)
    }

    /// Uploads a body.
    public func upload(for request: URLRequest, from bodyData: Data) async throws -> (Data, URLResponse) {
        try await load { self.uploadTask(with: request, from: bodyData, completionHandler: $0) }
    }

    /// Uploads a file.
    public func upload(for request: URLRequest, fromFile fileURL: URL) async throws -> (Data, URLResponse) {
        try await load { self.uploadTask(with: request, fromFile: fileURL, completionHandler: $0) }
    }

    /// Uploads a body, with a delegate that is asked about redirects and challenges.
    public func upload(
        for request: URLRequest, from bodyData: Data, delegate: any URLSessionTaskDelegate
    ) async throws -> (Data, URLResponse) {
        try await load(delegate) { self.uploadTask(with: request, from: bodyData, completionHandler: $0) }
    }

    /// Uploads a file, with a delegate that is asked about redirects and challenges.
    public func upload(
        for request: URLRequest, fromFile fileURL: URL, delegate: any URLSessionTaskDelegate
    ) async throws -> (Data, URLResponse) {
        try await load(delegate) { self.uploadTask(with: request, fromFile: fileURL, completionHandler: $0) }
    }

    private func load(
        _ delegate: (any URLSessionTaskDelegate)? = nil, _ create: (@escaping CompletionHandler) -> URLSessionDataTask
    ) async throws -> (Data, URLResponse) {
        let running = Locked<URLSessionDataTask?>(nil)
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let task = create { data, response, error in
                    if let data, let response {
                        continuation.resume(returning: (data, response))
                    } else {
                        continuation.resume(throwing: error ?? URLError(.unknown))
                    }
                }
                if let delegate { task.delegate = delegate }
                running.withLock { $0 = task }
                task.resume()
                if Task.isCancelled { task.cancel() }
            }
        } onCancel: {
            running.withLock { $0 }?.cancel()
        }
    }
}
