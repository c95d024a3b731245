import Foundation
import SQLiteCache
import SynchronizerSupport

/// The names of the keys and channels of one application.
///
/// All keys of a URL have the same hash tag, so a cluster keeps them on one node.
package struct Keyspace: Sendable {
    private let prefix: String
    private let database: Int

    /// Increases with each change of the scripts, of the channels or of ``SharedEntry``. Different versions do not see each other's
    /// values.
    private static let version = 8

    /// - Parameter database: the number of the server's database. Databases have their own keys, but share the server's channels.
    package init(namespace: String, database: Int) {
        self.database = database
        prefix = "\(namespace):\(Self.version).\(EncodedRecord.format)"
        (generation, changes) = ("\(prefix):generation", "\(prefix):\(database):changes")
        currentGeneration = Command(["GET", generation], key: generation)
    }

    /// The key of the generation in use. A removal of everything changes its value.
    package let generation: String
    /// Reads the generation. It is sent together with other commands, so that replies of an old generation are recognized.
    package let currentGeneration: Command
    /// The channel on which changes are announced.
    package let changes: String

    /// The key of the hash with all entries of a URL: a field for each variant. The body of a variant has a key of its own.
    package func entries(of url: URLDigest, in generation: String) -> String {
        "\(prefix):\(generation):{\(url.text)}"
    }

    /// All keys of a generation, as `SCAN` matches them.
    package func pattern(of generation: String) -> String {
        let special: Set<Character> = ["*", "?", "[", "]", "\\"]
        return prefix.map { special.contains($0) ? "\\\($0)" : "\($0)" }.joined() + ":\(generation):{*}"
    }

    package func lease(_ key: String) -> String { "\(prefix):lease:{\(URLDigest(key).text)}" }
    /// The key that keeps the number of a lease for a while after the grant.
    package func recent(_ key: String) -> String { lease(key) + ":recent" }
    /// The channel on which the release of a lease is announced.
    package func releases(_ key: String) -> String { lease(key) + ":\(database):released" }
}

/// A digest of 128 bits for a URL or another text. Collisions do no harm, because each value contains its URL, which is verified.
package struct URLDigest: Hashable, Sendable {
    package let first: UInt64
    package let second: UInt64

    package init(_ url: String) {
        var url = url
        (first, second) = url.withUTF8 { bytes in
            let bytes = UnsafeRawBufferPointer(bytes)
            return (Checksum64.of(bytes), Checksum64.of(bytes, seed: 0x5851_F42D_4C95_7F2D))
        }
    }

    /// The first half of the digest of a URL, which identifies the URL within a process.
    package static func key(_ url: String) -> UInt64 { Checksum64.of(url) }

    package var text: String { first.hexadecimal + second.hexadecimal }
}
