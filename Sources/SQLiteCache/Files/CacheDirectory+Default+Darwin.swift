#if canImport(Darwin)
    import Foundation

    extension CacheDirectory {
        /// The directory for the caches of this user's programs.
        static func userCaches(_ environment: [String: String]) -> URL {
            FileManager.default.urls(for: .cachesDirectory, in: .userDomainMask).first
                ?? FileManager.default.temporaryDirectory
        }
    }
#endif
