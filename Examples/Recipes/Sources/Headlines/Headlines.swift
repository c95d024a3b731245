// What an app does with a feed; its tests use doubles.
import Foundation
import Synchronizer

@MainActor
public struct Headlines {
    private struct Story: Decodable {
        let title: String
        let isBreaking: Bool
    }

    private let stories: JSONResource<[Story]>
    private let synchronizer: Synchronizer

    public init(url: URL, synchronizer: Synchronizer) {
        stories = JSONResource(url: url)
        self.synchronizer = synchronizer
    }

    /// The titles, those of breaking news first. If the server cannot be reached, they are those of the stored response.
    public func titles() async throws -> [String] {
        let stories = try await synchronizer.load(stories)
        return (stories.filter(\.isBreaking) + stories.filter { !$0.isBreaking }).map(\.title)
    }
}
