#if canImport(Darwin)
    import Foundation

    // `URLSession` ends idle transfers itself, and at no cost to speak of.
    extension URLSessionConfiguration {
        func takeIdleLimit() -> TimeInterval { timeoutIntervalForRequest }
    }

    extension URLRequest {
        func dividingIdleLimit(_ configured: TimeInterval) -> (URLRequest, TimeInterval?) { (self, nil) }
    }
#endif
