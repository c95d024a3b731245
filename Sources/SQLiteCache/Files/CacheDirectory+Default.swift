import Foundation

extension CacheDirectory {
    /// The cache directory of a program that names none: `SQLiteURLCache` in a folder with the program's name, in
    /// `$XDG_CACHE_HOME` or `~/.cache` on Linux (XDG Base Directory Specification), in Caches on Apple's systems.
    ///
    /// - Parameter environment: the environment of this process, unless a test passes another one.
    static func defaultURL(in environment: [String: String] = ProcessInfo.processInfo.environment) -> URL {
        userCaches(environment).appendingPathComponent(programName, isDirectory: true)
            .appendingPathComponent("SQLiteURLCache", isDirectory: true)
    }

    private static var programName: String {
        let name = Bundle.main.bundleIdentifier ?? ProcessInfo.processInfo.processName
        let safe = name.replacingOccurrences(of: "/", with: "_")
        return safe.isEmpty || safe.hasPrefix(".") ? "_" + safe : safe
    }
}
