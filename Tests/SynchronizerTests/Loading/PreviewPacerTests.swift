import TestTraits
import Testing

@testable import Synchronizer

@Suite("PreviewPacer", .bounded)
struct PreviewPacerTests {
    @Test("the first bytes are shown at once")
    func first() {
        var pacer = PreviewPacer(interval: 0.25)
        #expect(pacer.received(at: 10) == .preview)
    }

    @Test("while a preview is made no other is requested, and afterwards the newest bytes are shown once")
    func oneAtATime() {
        var pacer = PreviewPacer(interval: 0.25)
        _ = pacer.received(at: 0)
        #expect(pacer.received(at: 0.1) == .nothing)
        #expect(pacer.received(at: 0.2) == .nothing)
        #expect(pacer.previewed(at: 1) == .preview)
        #expect(pacer.previewed(at: 2) == .nothing)
    }

    @Test("previews do not begin more often than allowed")
    func interval() {
        var pacer = PreviewPacer(interval: 0.25)
        _ = pacer.received(at: 0)
        #expect(pacer.previewed(at: 0.05) == .nothing)
        #expect(pacer.received(at: 0.125) == .wake(after: 0.125))
        #expect(pacer.received(at: 0.2) == .nothing)
        #expect(pacer.woken(at: 0.25) == .preview)
        #expect(pacer.received(at: 0.26) == .nothing)
        #expect(pacer.previewed(at: 0.3) == .wake(after: 0.2))
        #expect(pacer.woken(at: 0.5) == .preview)
    }

    @Test("unrequested reports change nothing")
    func unasked() {
        var pacer = PreviewPacer(interval: 1)
        #expect(pacer.previewed(at: 0) == .nothing)
        #expect(pacer.woken(at: 0) == .nothing)
        #expect(pacer.received(at: 0) == .preview)
        #expect(pacer.woken(at: 5) == .nothing)
    }
}
