import Foundation
import Measuring
import Synchronizer

/// Three flings through a list of 500 items, 12 of them visible, over a slow link that all requests share.
@MainActor final class ScrollRows {
    enum Manner { case oldestFirstWithoutCancel, oldestFirstWithCancel, ours }

    /// Bytes a second of the link, items passed by in a fling, and seconds of a fling and between two.
    static let (link, items, duration, rest) = (1_000_000, 166, 0.8, 1.2)

    private let server: ServerProcess
    private let manner: Manner
    private let synchronizer: Synchronizer
    private var bound: [Int: (time: UInt64, cancel: CancelLoading)] = [:]
    private var shown: [Int: Double] = [:]

    init(_ server: ServerProcess, _ manner: Manner) {
        self.server = server
        self.manner = manner
        var configuration = Synchronizer.Configuration(urlCache: nil)
        configuration.schedule = manner == .ours ? .newestFirst : .oldestFirst
        synchronizer = Synchronizer(configuration: configuration)
    }

    /// Mean seconds from binding an item to its showing, over all items that are visible while the list rests.
    func run() async throws -> Double {
        var resting: [Int] = []
        for fling in 0..<3 {
            let first = fling * Self.items
            for item in first..<first + Self.items {
                try bind(item)
                if item >= 12 { unbind(item - 12) }
                try await Task.sleep(nanoseconds: UInt64(Self.duration / Double(Self.items) * 1e9))
            }
            let last = first + Self.items
            resting += last - 12..<last
            try await Task.sleep(nanoseconds: UInt64(Self.rest * 1e9))
        }
        while resting.contains(where: { shown[$0] == nil }) { try await Task.sleep(nanoseconds: 5_000_000) }
        let times = resting.compactMap { shown[$0] }
        return times.reduce(0, +) / Double(times.count)
    }

    private func bind(_ item: Int) throws {
        let resource = DataResource(url: try server.url(item))
        let start = DispatchTime.now().uptimeNanoseconds
        let cancel = synchronizer.loadResource(resource) { [weak self] _ in
            self?.shown[item] = Double(DispatchTime.now().uptimeNanoseconds - start) / 1e9
        }
        bound[item] = (start, cancel)
    }

    private func unbind(_ item: Int) {
        let cell = bound.removeValue(forKey: item)
        if manner != .oldestFirstWithoutCancel, shown[item] == nil { cell?.cancel() }
    }
}
