import Foundation

#if canImport(FoundationNetworking)
    extension Synchronizer.Configuration.Caching {
        /// `URLSession` on Linux never asks its cache.
        static let platformDefault = Self.managed
    }

    extension Synchronizer.Configuration {
        /// One SQLite file for the program and its user, of at most 200 MB; shared by all who ask.
        public static let defaultURLCache: URLCache = SQLiteURLCache(
            memoryCapacity: 20 << 20, diskCapacity: 200 << 20)
    }
#else
    extension Synchronizer.Configuration.Caching {
        static let platformDefault = Self.native
    }

    extension Synchronizer.Configuration {
        /// The system's own cache in a directory of its own, of at most 200 MB; shared by all who ask.
        public static let defaultURLCache = URLCache(
            memoryCapacity: 20 << 20, diskCapacity: 200 << 20, diskPath: "Synchronizer")
    }
#endif
