import Foundation
import HTTPCaching
import ImageResource
import ScriptedServer
import Synchronizer

/// The results of loading a feed and all of its images.
struct TourResult: Sendable {
    /// The images that were loaded, in the order of the feed.
    private(set) var images: [PlatformImage] = []
    /// The number of loads by source, including the feed.
    private(set) var sources: [LoadSource: Int] = [:]
    private(set) var errors: [any Error] = []

    var loaded: Int { sources.values.reduce(0, +) }

    private typealias Answer = Result<Loaded<PlatformImage>, any Error>

    init(
        loading feedURL: URL, as what: String, with synchronizer: Synchronizer, terminal: Terminal,
        cachePolicy: URLRequest.CachePolicy = .useProtocolCachePolicy
    ) async throws {
        var request = URLRequest(url: feedURL)
        request.cachePolicy = cachePolicy
        request.setValue("application/json", forHTTPHeaderField: FieldName.accept)
        let feed = try await synchronizer.loaded(JSONResource<SampleFeed>(request: request))
        sources[feed.source, default: 0] += 1
        let items = feed.object.items
        let progress = Progress(what, count: items.count, on: terminal)
        let answers = await withTaskGroup(of: (Int, Answer).self) { group in
            for (index, item) in items.enumerated() {
                group.addTask {
                    let answer = await Self.answer(for: item, with: synchronizer, cachePolicy: cachePolicy)
                    await progress.step()
                    return (index, answer)
                }
            }
            return await group.reduce(into: [Int: Answer]()) { $0[$1.0] = $1.1 }
        }
        for index in items.indices { add(answers[index]) }
    }

    private static func answer(
        for item: SampleFeed.Item, with synchronizer: Synchronizer, cachePolicy: URLRequest.CachePolicy
    ) async -> Answer {
        var request = URLRequest(url: item.url)
        request.cachePolicy = cachePolicy
        do {
            return .success(try await synchronizer.loaded(ContactSheet.resource(request)))
        } catch {
            return .failure(error)
        }
    }

    private mutating func add(_ answer: Answer?) {
        switch answer {
        case .success(let loaded)?:
            images.append(loaded.object)
            sources[loaded.source, default: 0] += 1
        case .failure(let error)?: errors.append(error)
        case nil: break
        }
    }
}
