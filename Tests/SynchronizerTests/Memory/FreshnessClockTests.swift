import Foundation
import TestSupport
import TestTraits
import Testing

@testable import Synchronizer

@Suite("The clock that objects in memory are judged by", .bounded)
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
        let before = Date()
        let now = clock.now
        // To a few milliseconds; but there is no bound on the time that passes between two lines.
        #expect(now > before.addingTimeInterval(-60) && now < Date().addingTimeInterval(60))
    }
}
