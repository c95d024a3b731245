import Foundation
import TestSupport
import TestTraits
import Testing

@testable import Synchronizer

@Suite("The timer of idle transfers", .bounded)
struct IdleTimerTests {
    final class FakeTransfer: IdleTimer.Transfer {
        let idleLimit: TimeInterval
        let wasHeard = Locked(false)
        let passed = Locked(0)

        init(_ limit: TimeInterval) { idleLimit = limit }

        func takeWasHeard() -> Bool {
            wasHeard.withLock { wasHeard in
                defer { wasHeard = false }
                return wasHeard
            }
        }

        func idleLimitPassed() { passed.withLock { $0 += 1 } }
        var hasEnded: Bool { passed.withLock { $0 } > 0 }
    }

    let clock = ManualClock()
    let timer: IdleTimer

    init() { timer = IdleTimer(time: clock) }

    @Test("ends what is not heard of for the limit, once, and not before")
    func silence() {
        let transfer = FakeTransfer(8)
        timer.begin(transfer)
        clock.advance(by: 7.9)
        #expect(!transfer.hasEnded)
        clock.advance(by: 1.1)
        #expect(transfer.hasEnded)
        clock.advance(by: 100)
        #expect(transfer.passed.withLock { $0 } == 1)
    }

    @Test("whatever is heard begins the limit anew")
    func activity() {
        let transfer = FakeTransfer(8)
        timer.begin(transfer)
        for _ in 0..<10 {
            clock.advance(by: 6)
            transfer.wasHeard.withLock { $0 = true }
        }
        #expect(!transfer.hasEnded)
        clock.advance(by: 10)
        #expect(transfer.hasEnded)
    }

    @Test("each has its own limit, whichever begins first", arguments: [[1.0, 80], [80, 1]])
    func limits(limits: [TimeInterval]) {
        let transfers = limits.map(FakeTransfer.init)
        transfers.forEach(timer.begin)
        clock.advance(by: 2)
        #expect(transfers.map(\.hasEnded) == limits.map { $0 == 1 })
        clock.advance(by: 100)
        #expect(transfers.map(\.hasEnded) == [true, true])
    }

    @Test("what has ended is let go of, and later ones are still watched")
    func ended() {
        weak var leaked: FakeTransfer?
        do {
            let transfer = FakeTransfer(8)
            leaked = transfer
            timer.begin(transfer)
            timer.end(transfer)
        }
        #expect(leaked == nil)
        clock.advance(by: 1_000)
        let later = FakeTransfer(8)
        timer.begin(later)
        clock.advance(by: 10)
        #expect(later.hasEnded)
    }

    @Test("what begins just before an alarm has its whole limit, and shorter limits beside it change nothing")
    func betweenAlarms() {
        let first = FakeTransfer(8)
        timer.begin(first)
        clock.advance(by: 0.9)
        let second = FakeTransfer(8)
        timer.begin(second)
        for _ in 0..<7 {
            timer.begin(FakeTransfer(1))
            clock.advance(by: 1)
        }
        clock.advance(by: 0.9)
        #expect(!second.hasEnded)
        clock.advance(by: 2.2)
        #expect(first.hasEnded && second.hasEnded)
    }
}
