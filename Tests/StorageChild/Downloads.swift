import Foundation
import ImageResource
import SQLiteCache
import Synchronizer
import TestSupport

/// Downloads files, and stores other bodies and thumbnails, until it is killed, or until it has done so many.
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
        (configuration.memoryCapacity, configuration.preferredMemoryUsage) = (0, 0)
        configuration.derivedObjects?.minimumParseTime = 0
        let synchronizer = Synchronizer(configuration: configuration)
        var random = SeededGenerator(seed: UInt64(seed))
        for _ in 0..<steps {
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<3 {
                    let key = Int.random(in: 0..<DownloadBodies.sizes.count, using: &random)
                    switch Int.random(in: 0..<6, using: &random) {
                    case 0: group.addTask { await load(key, asData: true, with: synchronizer) }
                    case 1..<4:
                        let isStored = Bool.random(using: &random)
                        let side = DownloadBodies.thumbnails.randomElement(using: &random) ?? 0
                        group.addTask { await loadImage(side, whateverIsStored: isStored, with: synchronizer) }
                    default: group.addTask { await load(key, asData: false, with: synchronizer) }
                    }
                }
            }
        }
        cache.flush()
    }

    private func url(_ path: String) -> URL {
        guard let url = URL(string: "http://127.0.0.1:\(port)/\(path)") else { fail("no URL") }
        return url
    }

    /// Says which version it was, and what its pixels are.
    private func loadImage(_ side: Int, whateverIsStored: Bool, with synchronizer: Synchronizer) async {
        do {
            var request = URLRequest(url: url("image"))
            if whateverIsStored { request.cachePolicy = .returnCacheDataElseLoad }
            let resource = ImageResource(request: request, sizing: .maxPixelSize(side))
            let loaded = try await synchronizer.loaded(resource)
            let version = (loaded.response as? HTTPURLResponse)?.value(forHTTPHeaderField: "ETag") ?? ""
            let pixels = try resource.encode(loaded.object)?.withUnsafeBytes { Checksum64.of($0) }
            say("\(loaded.trace.isDerived ? "derived" : "decoded") \(side) \(version) \(pixels ?? 0)")
        } catch {
            fail("image: \(error)")
        }
    }

    private func load(_ key: Int, asData: Bool, with synchronizer: Synchronizer) async {
        let url = url("\(key)")
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
