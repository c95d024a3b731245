import Foundation
import TestSupport
import TestTraits
import Testing

@testable import Synchronizer

@Suite("A recycled list", .bounded)
@MainActor struct RecycledCellTests {
    /// A cell as applications write it: it cancels when it is bound anew, and shows whatever it is given.
    @MainActor final class Cell {
        private(set) var slot: String?
        private(set) var shown: String?
        private var cancel: CancelLoading?

        func bind(to slot: String, _ synchronizer: Synchronizer) {
            unbind()
            self.slot = slot
            guard let url = URL(string: "http://a.example\(slot)") else { return }
            cancel = synchronizer.loadResource(DataResource(url: url)) { [weak self] result in
                guard case .success(let data) = result else { return }
                self?.shown = String(decoding: data, as: UTF8.self)
            }
        }

        func unbind() {
            cancel?()
            cancel = nil
            slot = nil
            shown = nil
        }
    }

    /// For each of the four cases: 20,000 in all, and 200,000 in a soak.
    private static let rounds = Soak.count(5_000, inSoak: 50_000)

    @Test(
        "never shows another cell's object, whatever is bound, unbound and completed", arguments: [0, 5.0],
        [false, true])
    func recycling(grace: TimeInterval, nothingStored: Bool) async {
        let fetcher = FakeFetcher(nothingStored: nothingStored)
        var configuration = Synchronizer.Configuration(urlCache: nil)
        configuration.cancellationGracePeriod = grace
        configuration.time = ManualClock()
        let synchronizer = Synchronizer(configuration: configuration, fetcher: fetcher)
        let cells = (0..<20).map { _ in Cell() }
        var generator = SeededGenerator(seed: UInt64(grace))
        var shown = 0
        var ends: [Task<Void, Never>] = []
        for round in 1...Self.rounds {
            let cell = cells[Int.random(in: 0..<20, using: &generator)]
            switch Int.random(in: 0..<8, using: &generator) {
            case 0...3: cell.bind(to: "/\(Int.random(in: 0..<30, using: &generator))", synchronizer)
            case 4: cell.unbind()
            default:
                guard let fetch = fetcher.takeOne(&generator) else { break }
                if Bool.random(using: &generator) {
                    fetch.finish()
                } else {
                    ends.append(Task.detached { fetch.finish() })
                }
            }
            if round % 3 == 0 { await Task.yield() }  // lets completions in
            // Where other threads get little time, the rounds wait for them.
            if ends.count == 8 {
                for end in ends { await end.value }
                ends = []
            }
            for cell in cells {
                guard let object = cell.shown else { continue }
                shown += 1
                guard object == cell.slot else {
                    Issue.record("after \(round) rounds a cell of \(cell.slot ?? "nothing") shows \(object)")
                    return
                }
            }
        }
        cells.forEach { $0.unbind() }
        #expect(shown > Self.rounds / 5)
    }
}
