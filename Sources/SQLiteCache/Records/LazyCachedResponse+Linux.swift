#if !canImport(Darwin)
    import Foundation
    import SynchronizerSupport

    /// A cached response that creates its `URLResponse` when it is first used. On Linux creating an `HTTPURLResponse`
    /// takes longer than reading a body of 20 KB, and many callers use the body alone.
    final class LazyCachedResponse: CachedURLResponse, @unchecked Sendable {  // `made` is touched under `lock` only
        private var made: URLResponse?
        private let record: EncodedRecord
        private let url: URL

        /// One lock for all objects: it is held for nanoseconds, and the objects are many. The unused value must have a size. The
        /// address of `()` would be that of the lock, and the thread sanitizer would report a race.
        private static let lock = Locked(0)
        private static let placeholder = URLResponse(
            url: URL(fileURLWithPath: "/"), mimeType: nil, expectedContentLength: -1, textEncodingName: nil)

        /// Makes the cached response that the record describes.
        static func make(
            record: EncodedRecord, url: URL, body: Data, userInfo: [AnyHashable: Any]?
        ) -> CachedURLResponse? {
            LazyCachedResponse(record: record, url: url, body: body, userInfo: userInfo)
        }

        private init(record: EncodedRecord, url: URL, body: Data, userInfo: [AnyHashable: Any]?) {
            self.record = record
            self.url = url
            super.init(response: Self.placeholder, data: body, userInfo: userInfo, storagePolicy: .allowed)
        }

        override var response: URLResponse {
            if let known = Self.lock.withLock({ _ in made }) { return known }
            let response =
                record.urlResponse(url: url)
                ?? URLResponse(url: url, mimeType: nil, expectedContentLength: -1, textEncodingName: nil)
            return Self.lock.withLock { _ in
                let first = made ?? response  // two threads may have created one
                made = first
                return first
            }
        }
    }
#endif
