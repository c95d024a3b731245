import Foundation
import TestSupport
import Testing

@testable import Synchronizer

@Suite("The clock that objects in memory are judged by")
struct FreshnessClockTests {
    @Test("is the time of its source, to the moment")
    func source() {
        let source = ManualClock()
        let clock = FreshnessClock(source)
        #expect(clock.now == source.now)
        source.advance(by: 0.001)
        #expect(clock.now == source.now)
    }

    @Test("is the system's time, where that is its source")
    func system() {
        let clock = FreshnessClock(SystemTime())
        #expect(abs(clock.now.timeIntervalSinceNow) < 60)
    }
}
