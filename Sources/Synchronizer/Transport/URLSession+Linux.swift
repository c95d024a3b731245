#if !canImport(Darwin)
    import CurlSession
    import Foundation
    import HTTPCaching

    extension URLSession {
        /// The session of a transport.
        static func forTransfers(
            _ configuration: URLSessionConfiguration, delegate: TransferRouter, queue: OperationQueue,
            tls: TLSConfiguration
        ) -> URLSession {
            var options = CurlSession.Options()
            options.reportsRedirects = !delegate.isWatched
            options.limitsRedirectBodies = true
            options.refusesUncertainEnds = true  // a load is retried
            options.tls = tls
            return CurlSession(
                configuration: configuration, delegate: delegate, delegateQueue: queue, options: options)
        }

        /// A session adds no `Accept-Language`.
        package static let languages: @Sendable () -> [String] = { [] }
    }

    extension URLSessionTask {
        /// Pauses the body of a response, or continues it.
        func setPaused(_ isPaused: Bool) {
            if holdBody(isPaused) { return }
            if isPaused { suspend() } else { resume() }
        }
    }

    /// The base class of a session's delegate.
    class PolicyHolder: NSObject, @unchecked Sendable {  // its state is `let`
        let policy: SessionDelegate

        init(_ policy: SessionDelegate) {
            self.policy = policy
        }
    }

    extension TransferRouter: CurlSessionDataDelegate {
        func urlSession(
            _ session: URLSession, dataTask: URLSessionDataTask, didReceive head: CurlResponseHead,
            completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
        ) {
            let transfer = transfer(of: dataTask)
            if isWatched, let response = transfer?.show(ResponseHead(head)) {
                policy.urlSession(
                    session, dataTask: dataTask, didReceive: response, completionHandler: completionHandler)
            } else {
                transfer?.report(.response(ResponseHead(head)))
                completionHandler(.allow)
            }
        }
    }

    /// The cookies that a session adds to requests.
    struct SessionCookies: Sendable {
        private let session: CurlSession?

        init(of session: URLSession, configuration: URLSessionConfiguration) {
            self.session = session as? CurlSession
        }

        /// The value of `Cookie`; nil if none are added. Never waits for the disk.
        func header(for request: URLRequest) -> String? { session?.cookieHeader(for: request) }
    }

    extension ResponseHead {
        fileprivate init(_ head: CurlResponseHead) {
            var fields = HTTPFields()
            fields.reserveCapacity(head.fields.count)
            for field in head.fields { fields.add(field.name, value: field.value) }
            self.init(url: head.url, status: head.status, fields: fields, version: head.version)
        }
    }

    extension NetworkTrace {
        /// The measurements of a task that has ended. Nil for a task of Foundation's session, which one of the
        /// configuration's `protocolClasses` serves.
        init?(of task: URLSessionTask) {
            guard let metrics = (task as? CurlTask)?.metrics, !metrics.protocolName.isEmpty else { return nil }
            self.init()
            if !metrics.reusedConnection {
                nameLookup = metrics.nameLookup
                connect = max(0, metrics.connect - metrics.nameLookup)
                if metrics.secureConnect > 0 { secureConnection = max(0, metrics.secureConnect - metrics.connect) }
            }
            firstByte = metrics.firstByte
            protocolName = metrics.protocolName
            isConnectionReused = metrics.reusedConnection
            remoteAddress = metrics.remoteAddress
            bytesSent = Int(clamping: metrics.bytesSent)
            bytesReceived = Int(clamping: metrics.bytesReceived)
        }
    }
#endif
