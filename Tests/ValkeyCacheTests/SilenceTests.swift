import TestTraits
import Testing

@testable import ValkeyCache

@Suite("A server that is silent", .bounded)
struct SilenceTests {
    @Test("is asked after a second and given up after another one, however often the thread looks")
    func silence() {
        var watch = SilenceWatch(at: 10)
        let steps = stride(from: 10.125, through: 12.25, by: 0.125).map { watch.step(at: $0) }
        let waits = [SilenceWatch.Step](repeating: .wait, count: 7)
        #expect(steps == waits + [.ask] + waits + [.giveUp] + [.giveUp, .giveUp])
        #expect(watch.left(at: 11.75) == 0.25 && watch.left(at: 13) == 0)
    }

    @Test("and then answers is asked again after a second")
    func answers() {
        var watch = SilenceWatch(at: 0)
        #expect(watch.step(at: 1) == .ask && watch.isAsked)
        watch.noteBytes(at: 1.5)
        #expect(!watch.isAsked)
        #expect([2.25, 2.5, 3.5].map { watch.step(at: $0) } == [.wait, .ask, .giveUp])
    }
}
