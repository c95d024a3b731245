#if canImport(Darwin)
    import Foundation

    /// A response as it is proposed to a ``SessionDelegate``.
    enum ProposedResponse {
        static func make(_ head: ResponseHead, body: Data) -> CachedURLResponse {
            CachedURLResponse(response: head.urlResponse, data: body)
        }
    }
#endif
