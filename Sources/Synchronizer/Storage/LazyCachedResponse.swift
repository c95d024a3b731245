import Foundation

#if canImport(FoundationNetworking)
    /// A cached response whose `URLResponse` is made when somebody first looks at it. On Linux making a
    /// `HTTPURLResponse` takes longer than reading a body of 20 KB, and many callers want the body alone.
    final class LazyCachedResponse: CachedURLResponse, @unchecked Sendable {  // `made` is touched under `lock` only
        private var made: URLResponse?
        private let record: EncodedRecord
        private let url: URL

        /// One for all: it is held for nanoseconds, and these objects are many. What it holds is of no use, but has a place:
        /// that of `()` would be the lock's own, and the thread sanitizer takes its use for a race.
        private static let lock = Locked(0)
        private static let placeholder = URLResponse(
            url: URL(fileURLWithPath: "/"), mimeType: nil, expectedContentLength: -1, textEncodingName: nil)

        /// A cached response as the record says.
        static func make(
            _ record: EncodedRecord, _ url: URL, _ body: Data, userInfo: [AnyHashable: Any]?
        ) -> CachedURLResponse? {
            LazyCachedResponse(record, url, body, userInfo)
        }

        private init(_ record: EncodedRecord, _ url: URL, _ body: Data, _ userInfo: [AnyHashable: Any]?) {
            self.record = record
            self.url = url
            super.init(response: Self.placeholder, data: body, userInfo: userInfo, storagePolicy: .allowed)
        }

        override var response: URLResponse {
            if let known = Self.lock.withLock({ _ in made }) { return known }
            let response =
                record.urlResponse(url)
                ?? URLResponse(url: url, mimeType: nil, expectedContentLength: -1, textEncodingName: nil)
            return Self.lock.withLock { _ in
                let first = made ?? response  // two threads may have made one
                made = first
                return first
            }
        }
    }
#else
    /// Apple's URL loading system looks into the object behind `CachedURLResponse`, so that it has to be whole.
    enum LazyCachedResponse {
        /// A cached response as the record says.
        static func make(
            _ record: EncodedRecord, _ url: URL, _ body: Data, userInfo: [AnyHashable: Any]?
        ) -> CachedURLResponse? {
            guard let response = record.urlResponse(url) else { return nil }
            return CachedURLResponse(response: response, data: body, userInfo: userInfo, storagePolicy: .allowed)
        }
    }
#endif
