import Foundation
import Synchronizer

/// Bodies of several keys, each in several versions, which differ everywhere.
public enum DownloadBodies {
    /// For a row of the database, for body files of the cache, and for a file that a cache of 8 MB does not take.
    public static let sizes = [3_000, 60_001, 400_000, 1_500_000, 3_000_000, 6_000_000]
    public static let versions = 4
    /// The sides of thumbnails: one for the database, and one for a body file.
    public static let thumbnails = [64, 160]

    private static let made = Locked<[Int: Data]>([:])

    public static func body(_ key: Int, version: Int) -> Data {
        let number = key * versions + version
        if let known = made.withLock({ $0[number] }) { return known }
        var generator = SeededGenerator(seed: UInt64(number + 1))
        let words = (0..<(sizes[key] + 7) / 8).map { _ in generator.next() }
        let body = words.withUnsafeBytes { Data($0.prefix(sizes[key])) }
        made.withLock { $0[number] = body }
        return body
    }

    /// The version that a whole body is of; nil if it is of none.
    public static func version(of body: Data, key: Int) -> Int? {
        (0..<versions).first { self.body(key, version: $0) == body }
    }
}
