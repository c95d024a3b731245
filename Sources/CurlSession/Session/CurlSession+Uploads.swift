import Foundation
import FoundationNetworking

/// Upload tasks. The methods with a completion handler or `async` ignore the session's delegate, as Foundation's do.
extension CurlSession {
    public typealias CompletionHandler = @Sendable (Data?, URLResponse?, (any Error)?) -> Void

    func upload(_ request: URLRequest, body: RequestBody, _ handler: CompletionHandler? = nil) -> CurlUploadTask {
        CurlUploadTask(TaskCore(request, session: self, body: body, handler: handler))
    }
}

extension RequestBody {
    /// The content of a file, which is opened when the task reads it.
    init(file: URL) {
        guard let stream = InputStream(url: file) else {
            self = .data(Data())
            return
        }
        let size = try? file.resourceValues(forKeys: [.fileSizeKey]).fileSize
        self = .stream(BodyStream(stream), length: size.map(Int64.init))
    }
}
