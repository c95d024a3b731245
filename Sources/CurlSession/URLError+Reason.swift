import Foundation

extension URLError {
    /// An error whose `localizedDescription` gives the session's reason.
    init(_ code: Code, because reason: String) {
        self.init(code, userInfo: [NSLocalizedDescriptionKey: reason])
    }

    static var timeout: URLError { URLError(.timedOut, because: "the request timed out") }
}
