import Foundation
import SQLiteCache

/// Finds the cache in a directory that the command line names, or below it.
enum CacheSearch {
    struct Ambiguous: Error, CustomStringConvertible {
        let directories: [URL]
        var description: String {
            "There are several caches; name one of them:\n" + directories.map { "  \($0.path)" }.joined(separator: "\n")
        }
    }

    /// How deep to search: the default cache of a program is in `~/.cache/PROGRAM/SQLiteURLCache`.
    private static let depth = 2

    /// The directory itself if it is a cache, or if there is no cache below it. Otherwise the only cache below it, whose path is
    /// printed to standard error.
    static func find(_ directory: URL) throws -> URL {
        guard !isCache(directory) else { return directory }
        let found = caches(below: directory, depth: depth)
        guard found.count <= 1 else { throw Ambiguous(directories: found) }
        guard let only = found.first else { return directory }
        FileHandle.standardError.write(Data("The cache is in \(only.path).\n".utf8))
        return only
    }

    /// Whether the directory is a cache, which may be corrupt.
    private static func isCache(_ directory: URL) -> Bool {
        do {
            _ = try CacheInspection(directory)
            return true
        } catch {
            return (error as? CacheInspection.Unusable)?.isCorrupt == true
        }
    }

    private static func caches(below directory: URL, depth: Int) -> [URL] {
        guard depth > 0 else { return [] }
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory.path)) ?? []
        return names.sorted().flatMap { name in
            let folder = directory.appendingPathComponent(name, isDirectory: true)
            return isCache(folder) ? [folder] : caches(below: folder, depth: depth - 1)
        }
    }
}
