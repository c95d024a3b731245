#if canImport(Darwin)
    import Foundation

    extension Synchronizer.Configuration.Caching {
        static let platformDefault = Self.native
    }

    extension RequestLeases {
        static let platformDefault: Self? = nil
    }

    extension Synchronizer.Configuration {
        func makeNativeFetcher(_ session: URLSessionConfiguration, network: NetworkSwitch) -> (any Fetching)? {
            session.urlCache = urlCache
            return NativeFetcher(
                transport: URLSessionTransport(configuration: session, delegate: sessionDelegate, tls: tls),
                cache: urlCache, time: time, injection: sessionDelegate.injection, network: network)
        }

        /// The system's own cache in a directory of its own, of at most 200 MB; all synchronizers share it by default.
        public static let defaultURLCache = URLCache(
            memoryCapacity: 20 << 20, diskCapacity: 200 << 20, diskPath: "Synchronizer")
    }
#endif
