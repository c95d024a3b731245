#if !canImport(FoundationNetworking)
    import Foundation

    extension URLRequest {
        /// `URLSession` ends idle transfers itself, and at no cost to speak of.
        func idleLimitOfOurs(inPlaceOf configured: TimeInterval) -> TimeInterval? { nil }

        var withoutIdleLimit: URLRequest { self }
    }
#endif
