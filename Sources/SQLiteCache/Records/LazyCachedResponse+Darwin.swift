#if canImport(Darwin)
    import Foundation

    /// Apple's URL loading system reads the internal object behind `CachedURLResponse`, so the response must be complete.
    enum LazyCachedResponse {
        /// Makes the cached response that the record describes.
        static func make(
            record: EncodedRecord, url: URL, body: Data, userInfo: [AnyHashable: Any]?
        ) -> CachedURLResponse? {
            guard let response = record.urlResponse(url: url) else { return nil }
            return CachedURLResponse(response: response, data: body, userInfo: userInfo, storagePolicy: .allowed)
        }
    }
#endif
