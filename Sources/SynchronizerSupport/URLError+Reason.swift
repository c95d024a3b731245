import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension URLError {
    /// An error whose `localizedDescription` gives the reason.
    package init(_ code: Code, because reason: String) {
        self.init(code, userInfo: [NSLocalizedDescriptionKey: reason])
    }

    package static var timeout: URLError { URLError(.timedOut, because: "the request timed out") }

    package static var notHTTP: URLError { URLError(.badServerResponse, because: "the response is not one of HTTP") }

    package static var incompleteResponse: URLError {
        URLError(.networkConnectionLost, because: "the connection ended before the response was complete")
    }
}
