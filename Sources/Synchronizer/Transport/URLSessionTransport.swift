import Foundation
import HTTPCaching

/// Sends requests through one `URLSession`. It keeps the session, because creating one is expensive. On Linux the session is a
/// `CurlSession`.
package final class URLSessionTransport: Transport {
    let session: URLSession
    let router: TransferRouter
    private let additionalFields: [String: String]
    private let cookies: SessionCookies
    /// The languages from which the session makes an `Accept-Language`; nil if it makes none.
    private let languages: (@Sendable () -> [String])?

    /// - Parameters:
    ///   - storesResponses: Whether `receive` may wait for the disk when it receives the end of a transfer.
    ///   - languages: The languages from which a session of this platform makes an `Accept-Language`, unless the configuration has
    ///     one. Empty if it makes none.
    package init(
        configuration: URLSessionConfiguration, delegate: SessionDelegate, tls: TLSConfiguration = TLSConfiguration(),
        storesResponses: Bool = true, languages: @escaping @Sendable () -> [String] = URLSession.languages
    ) {
        let queue = DelegateQueue()
        router = TransferRouter(delegate, tls: tls, queue: queue.queue, storesResponses: storesResponses)
        session = .forTransfers(configuration, delegate: router, queue: queue, tls: tls)
        additionalFields = Dictionary(
            (configuration.httpAdditionalHeaders ?? [:]).map { ("\($0.key)", "\($0.value)") }, uniquingKeysWith: { $1 })
        cookies = SessionCookies(of: session, configuration: configuration)
        let hasLanguages = additionalFields.keys.contains { HTTPFields.same($0, FieldName.acceptLanguage) }
        self.languages = hasLanguages ? nil : languages
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
        var fields = additionalFields
        if let cookies { fields[FieldName.cookie] = cookies }
        if let languages = languages?(), !languages.isEmpty {
            // Only selects stored responses (`Vary: Accept-Language`), and is never sent. The session writes its list in another
            // way, so a list of the caller with the same languages is not the same value.
            fields[FieldName.acceptLanguage] = "session: " + languages.joined(separator: ",")
        }
        return fields
    }
}

/// A serial queue for a session's delegate. It keeps its dispatch queue, which `OperationQueue` itself does not.
private final class DelegateQueue: OperationQueue, @unchecked Sendable {  // its own state is `let`
    let queue = DispatchQueue(label: "Synchronizer.session", qos: .userInitiated)

    override init() {
        super.init()
        name = "Synchronizer.session"
        maxConcurrentOperationCount = 1
        underlyingQueue = queue
    }
}
