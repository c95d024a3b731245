#if !canImport(Darwin)
    import Foundation

    /// A response as it is proposed to a ``SessionDelegate``. Its `URLResponse` is created only when the delegate first reads
    /// it, because creating one takes longer than reading a body of 20 KB.
    final class ProposedResponse: CachedURLResponse, @unchecked Sendable {  // its own state is `let` or Locked
        private let head: ResponseHead
        private let made = Locked<URLResponse?>(nil)
        /// A response for the initializer of the superclass, which requires one.
        private static let placeholder = URLResponse(
            url: URL(fileURLWithPath: "/"), mimeType: nil, expectedContentLength: -1, textEncodingName: nil)

        static func make(_ head: ResponseHead, body: Data) -> CachedURLResponse { ProposedResponse(head, body: body) }

        private init(_ head: ResponseHead, body: Data) {
            self.head = head
            super.init(response: Self.placeholder, data: body, userInfo: nil, storagePolicy: .allowed)
        }

        override var response: URLResponse {
            if let made = made.withLock({ $0 }) { return made }
            let response = head.urlResponse
            return made.withLock { made in
                let first = made ?? response  // two threads may have made one
                made = first
                return first
            }
        }
    }
#endif
