#if !canImport(Darwin)
    import Foundation

    extension CacheDirectory {
        /// The directory for the caches of this user's programs.
        static func userCaches(_ environment: [String: String]) -> URL {
            // The XDG Base Directory Specification says to ignore a relative path.
            if let path = environment["XDG_CACHE_HOME"], path.hasPrefix("/") {
                return URL(fileURLWithPath: path, isDirectory: true)
            }
            return FileManager.default.homeDirectoryForCurrentUser.appendingPathComponent(".cache", isDirectory: true)
        }
    }
#endif
