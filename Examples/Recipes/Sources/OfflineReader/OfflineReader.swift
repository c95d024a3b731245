// A reader that works offline: it shows pages again that were read once, however old they are.
import Foundation
import Synchronizer

@main
struct OfflineReader {
    static func main() async throws {
        let arguments = CommandLine.arguments.dropFirst()
        guard let directory = arguments.first, arguments.count > 1 else {
            print("Usage: OfflineReader DIRECTORY [--offline] URL…")
            exit(2)
        }
        let cache = SQLiteURLCache(
            memoryCapacity: 1 << 20, diskCapacity: 100 << 20, directory: URL(fileURLWithPath: directory))
        let synchronizer = Synchronizer(cacheTime: 60 * 60, urlCache: cache)
        synchronizer.isOffline = arguments.contains("--offline")

        for url in arguments.dropFirst().filter({ $0 != "--offline" }).compactMap(URL.init(string:)) {
            do {
                let note = try await synchronizer.loaded(DataResource(url: url))
                let text = String(decoding: note.object, as: UTF8.self).trimmingCharacters(in: .newlines)
                print("\(url.lastPathComponent): \(text) (\(note.source.rawValue))")
            } catch SynchronizerError.notCached {
                print("\(url.lastPathComponent): not stored")
            }
        }
    }
}
