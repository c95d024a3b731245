import Foundation
import FoundationNetworking

/// Upload tasks. With a completion handler or `async`, the delegate receives neither the response nor the end. It is asked
/// about redirects and challenges, and hears of the progress.
extension CurlSession {
    public typealias CompletionHandler = @Sendable (Data?, URLResponse?, (any Error)?) -> Void

    func upload(_ request: URLRequest, body: RequestBody, _ handler: CompletionHandler? = nil) -> CurlUploadTask {
        CurlUploadTask(TaskCore(request, session: self, body: body, handler: handler))
    }
}
