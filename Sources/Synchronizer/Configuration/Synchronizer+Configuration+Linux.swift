#if !canImport(Darwin)
    import Foundation

    extension Synchronizer.Configuration.Caching {
        static let platformDefault = Self.managed
    }

    extension RequestLeases {
        static let platformDefault: Self? = Self()
    }

    extension Synchronizer.Configuration {
        /// Nil: no session on Linux stores responses.
        func makeNativeFetcher(_ session: URLSessionConfiguration, network: NetworkSwitch) -> (any Fetching)? { nil }

        static let defaultMemoryCapacity = 256 << 20

        /// A ``SQLiteURLCache`` for the program and its user, of at most 200 MB; all synchronizers share it by default.
        public static let defaultURLCache: URLCache = SQLiteURLCache(
            memoryCapacity: 20 << 20, diskCapacity: 200 << 20)
    }
#endif
