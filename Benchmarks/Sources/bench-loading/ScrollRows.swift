import Foundation
import Measuring
import Synchronizer

/// Three flings through a list of 500 items, 12 of them visible, over a slow link that all requests share. A fling slows
/// down as the systems' own lists do: by the same share in each moment.
@MainActor final class ScrollRows {
    enum Manner { case oldestFirstWithoutCancel, oldestFirstWithCancel, ours }

    /// What loads: the first two manners are those of a loader with a queue, and nothing else.
    private enum Loads {
        case plain(PlainLoader)
        case ours(Synchronizer)
    }

    /// Bytes a second of the link, items passed by in a fling, and seconds of a fling and between two.
    static let (link, items, duration, rest) = (1_000_000, 166, 1.6, 1.2)
    /// Seconds in which a fling's speed falls to 37 %: `UIScrollView.DecelerationRate.normal` is 0.998 a millisecond.
    private static let slowing = 0.5

    private let server: ServerProcess
    private let manner: Manner
    private let loads: Loads
    private var bound: [Int: (time: UInt64, cancel: CancelLoading)] = [:]
    private var shown: [Int: Double] = [:]

    init(_ server: ServerProcess, _ manner: Manner) {
        self.server = server
        self.manner = manner
        loads = manner == .ours ? .ours(Synchronizer(configuration: .init(urlCache: nil))) : .plain(PlainLoader())
    }

    /// Mean seconds from binding an item to its showing, over all items that are visible while the list rests.
    func run() async throws -> Double {
        var onScreen: [Int] = []
        for fling in 0..<3 {
            let first = fling * Self.items
            for item in first..<first + Self.items {
                try bind(item)
                if item >= 12 { unbind(item - 12) }
                try await Task.sleep(nanoseconds: UInt64(Self.pause(after: item - first) * 1e9))
            }
            let last = first + Self.items
            onScreen += last - 12..<last
            try await Task.sleep(nanoseconds: UInt64(Self.rest * 1e9))
        }
        while onScreen.contains(where: { shown[$0] == nil }) { try await Task.sleep(nanoseconds: 5_000_000) }
        let times = onScreen.compactMap { shown[$0] }
        return times.reduce(0, +) / Double(times.count)
    }

    /// Seconds from one item of a fling to the next.
    private static func pause(after item: Int) -> Double { moment(of: item + 1) - moment(of: item) }

    private static func moment(of item: Int) -> Double {
        let whole = 1 - exp(-duration / slowing)
        return -slowing * log(1 - Double(item) / Double(items) * whole)
    }

    private func bind(_ item: Int) throws {
        let url = try server.url(item)
        let start = DispatchTime.now().uptimeNanoseconds
        let show: @MainActor () -> Void = { [weak self] in
            self?.shown[item] = Double(DispatchTime.now().uptimeNanoseconds - start) / 1e9
        }
        switch loads {
        case .plain(let loader): bound[item] = (start, loader.load(url, completion: show))
        case .ours(let synchronizer):
            bound[item] = (start, synchronizer.loadResource(DataResource(url: url)) { _ in show() })
        }
    }

    private func unbind(_ item: Int) {
        let cell = bound.removeValue(forKey: item)
        if manner != .oldestFirstWithoutCancel, shown[item] == nil { cell?.cancel() }
    }
}
