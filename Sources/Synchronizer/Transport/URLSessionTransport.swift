import Foundation
import HTTPCaching

/// Sends requests through one `URLSession`. It keeps the session, because creating one is expensive. On Linux the session is a
/// `CurlSession`.
package final class URLSessionTransport: Transport {
    let session: URLSession
    let router: TransferRouter
    private let additionalFields: [String: String]
    private let cookies: SessionCookies

    /// - Parameter storesResponses: Whether `receive` may wait for the disk when it receives the end of a transfer.
    package init(
        configuration: URLSessionConfiguration, delegate: SessionDelegate, tls: TLSConfiguration = TLSConfiguration(),
        storesResponses: Bool = true
    ) {
        router = TransferRouter(delegate, tls: tls, storesResponses: storesResponses)
        session = .forTransfers(configuration, delegate: router, queue: DelegateQueue(), tls: tls)
        additionalFields = Dictionary(
            (configuration.httpAdditionalHeaders ?? [:]).map { ("\($0.key)", "\($0.value)") }, uniquingKeysWith: { $1 })
        cookies = SessionCookies(of: session, configuration: configuration)
    }

    deinit {
        session.finishTasksAndInvalidate()  // a session keeps its delegate until then
    }

    package func send(
        _ request: URLRequest, receive: @escaping @Sendable (TransferEvent) -> Void
    ) -> any Transfer {
        if let url = request.url, url.isFileURL { return FileTransfer(url, receive: receive) }
        let transfer = URLSessionTransfer(
            session.dataTask(with: request), of: session, policy: router.policy, receive: receive)
        begin(transfer)
        return transfer
    }

    package func mayProlong(_ head: ResponseHead, cacheTime: TimeInterval?) -> Bool {
        router.policy.mayProlong(head, cacheTime: cacheTime)
    }

    func begin(_ transfer: URLSessionTransfer) {
        router.add(transfer)
        transfer.task.resume()
    }

    package func interrupt() { router.interrupt() }

    package func sessionCookies(for request: URLRequest) -> String? {
        cookies.header(for: request) ?? additionalFields[FieldName.cookie]
    }

    package func sessionHeaders(for request: URLRequest) -> [String: String] {
        fields(adding: cookies.header(for: request))
    }

    package func sessionHeaders(for request: URLRequest, knowing cookies: String?) -> [String: String] {
        fields(adding: cookies)
    }

    private func fields(adding cookies: String?) -> [String: String] {
        guard let cookies else { return additionalFields }
        return additionalFields.merging([FieldName.cookie: cookies]) { $1 }
    }
}

/// A serial queue for a session's delegate. It keeps its dispatch queue, which `OperationQueue` itself does not.
private final class DelegateQueue: OperationQueue, @unchecked Sendable {  // its own state is `let`
    private let queue = DispatchQueue(label: "Synchronizer.session", qos: .userInitiated)

    override init() {
        super.init()
        name = "Synchronizer.session"
        maxConcurrentOperationCount = 1
        underlyingQueue = queue
    }
}
