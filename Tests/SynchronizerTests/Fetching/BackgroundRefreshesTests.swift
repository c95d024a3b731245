import Foundation
import TestSupport
import TestTraits
import Testing

@testable import Synchronizer

@Suite("Validations in the background", .bounded)
struct BackgroundRefreshesTests {
    let refreshes = BackgroundRefreshes(limit: 2)
    let begun = Collector<Int64>()
    let error = SynchronizerError.notCached(.init(url: nil, trace: LoadTrace()))

    func key(_ entry: Int64, _ size: Int = 100) -> BackgroundRefreshes.Key {
        .init(entry: .stored(entry), maximumBodySize: size)
    }

    func add(_ entry: Int64, size: Int = 100, listener: BackgroundRefreshes.Ended? = nil) {
        if let listener {
            refreshes.start(key(entry, size), listener: listener) { [begun] in begun.append(entry) }
        } else {
            refreshes.queue(key(entry, size)) { [begun] in begun.append(entry) }
            refreshes.startNext()
        }
    }

    @Test("only so many run at a time, the oldest first, and each response's but once")
    func bounds() {
        for entry in [1, 2, 3, 3, 1, 4] { add(Int64(entry)) }
        #expect(begun.elements == [1, 2])
        refreshes.end(key(2), with: .failure(error))
        #expect(begun.elements == [1, 2, 3])
        refreshes.end(key(1), with: .failure(error))
        refreshes.end(key(3), with: .failure(error))
        #expect(begun.elements == [1, 2, 3, 4])
        add(1)
        #expect(begun.elements == [1, 2, 3, 4, 1])
    }

    @Test("with a listener one begins at once, queued or not, and each listener is called")
    func listeners() {
        for entry in 1...3 { add(Int64(entry)) }
        let told = Locked(0)
        for _ in 0..<2 { add(3, listener: { _ in told.withLock { $0 += 1 } }) }
        #expect(begun.elements == [1, 2, 3])
        refreshes.end(key(3), with: .failure(error))
        #expect(told.withLock { $0 } == 2)
    }

    @Test("a caller that accepts larger bodies starts its own refresh")
    func sizes() {
        add(1)
        add(1, size: 200)
        #expect(begun.elements == [1, 1])
    }

    @Test("of very many that wait the oldest are let go of")
    func veryMany() {
        for entry in 1...1_004 { add(Int64(entry)) }
        for entry in 1...2 { refreshes.end(key(Int64(entry)), with: .failure(error)) }
        #expect(begun.elements == [1, 2, 5, 6])
    }
}
