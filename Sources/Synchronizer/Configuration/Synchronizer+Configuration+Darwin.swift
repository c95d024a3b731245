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

        static let defaultMemoryCapacity = min(256 << 20, ProcessMemory.available / 8)

        /// The system's own cache in a directory of its own, of at most 200 MB; all synchronizers share it by default. It is in
        /// Caches, in a folder with the identifier of the program's bundle.
        public static let defaultURLCache = URLCache(
            memoryCapacity: min(20 << 20, ProcessMemory.available / 32), diskCapacity: 200 << 20, directory: directory)

        private static var directory: URL? {
            let program = Bundle.main.bundleIdentifier ?? ProcessInfo.processInfo.processName
            return FileManager.default.urls(for: .cachesDirectory, in: .userDomainMask).first?
                .appendingPathComponent(program, isDirectory: true)
                .appendingPathComponent("Synchronizer", isDirectory: true)
        }
    }
#endif
