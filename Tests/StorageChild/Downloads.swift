import Foundation
import SQLiteCache
import Synchronizer
import TestSupport

/// Downloads files and stores other bodies until it is killed, or until it has done so many.
struct Downloads: SynchronizerObserver {
    let cache: SQLiteURLCache
    /// Where the files go.
    let folder: URL
    let port: Int
    let seed: Int

    /// Says how far it is, so that the parent can kill it at any place.
    func synchronizerDid(_ event: SynchronizerEvent) {
        switch event.kind {
        case .data: say("data")
        case .stored: say("stored")
        default: break
        }
    }

    func run(steps: Int) async {
        var configuration = Synchronizer.Configuration(urlCache: cache)
        configuration.sessionConfiguration = .ephemeral
        configuration.retry = .none
        configuration.observer = self
        let synchronizer = Synchronizer(configuration: configuration)
        var random = SeededGenerator(seed: UInt64(seed))
        for _ in 0..<steps {
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<3 {
                    let key = Int.random(in: 0..<DownloadBodies.sizes.count, using: &random)
                    let asData = Int.random(in: 0..<4, using: &random) == 0
                    guard let url = URL(string: "http://127.0.0.1:\(port)/\(key)") else { fail("no URL") }
                    group.addTask { await load(key, url, asData: asData, with: synchronizer) }
                }
            }
        }
        cache.flush()
    }

    private func load(_ key: Int, _ url: URL, asData: Bool, with synchronizer: Synchronizer) async {
        do {
            if asData {
                let data = try await synchronizer.load(DataResource(url: url))
                if DownloadBodies.version(of: data, key: key) == nil { fail("\(key): wrong bytes") }
            } else {
                let file = FileResource(url: url, to: folder.appendingPathComponent("\(key)"))
                _ = try await synchronizer.load(file)
            }
        } catch {
            fail("\(key): \(error)")
        }
    }
}
