import Foundation
import GalleryModel
import Synchronizer
import Testing

@Suite("The inspector's figures")
struct FiguresTests {
    private func figures(_ events: [(Int?, SynchronizerEvent.Kind)]) -> Figures {
        var figures = Figures()
        for (load, kind) in events {
            figures.note(SynchronizerEvent(load: load, url: nil, kind: kind, date: Date(timeIntervalSince1970: 0)))
        }
        return figures
    }

    @Test("a load waits until its turn comes, and is gone when it has ended")
    func stages() {
        let begun: [(Int?, SynchronizerEvent.Kind)] = [(1, .queued), (1, .started), (1, .needsNetwork)]
        #expect(figures(begun).waiting == 1)
        #expect(figures(begun + [(1, .sent)]).inFlight == 1)
        #expect(figures(begun + [(1, .sent)]).waiting == 0)
        let ended = figures(begun + [(1, .sent), (1, .data(10)), (1, .finished(LoadTrace()))])
        #expect((ended.inFlight, ended.waiting, ended.finished, ended.networkBytes) == (0, 0, 1, 10))
    }

    @Test("bytes of a load that was given up are wasted")
    func wasted() {
        let given = figures([(1, .queued), (1, .sent), (1, .data(10)), (2, .queued), (2, .data(5)), (1, .cancelled)])
        #expect((given.wastedBytes, given.networkBytes, given.cancelled) == (10, 15, 1))
    }

    @Test("bytes that are stored are not wasted, though no cell waits for the picture any more")
    func stored() {
        let given = figures([(1, .queued), (1, .sent), (1, .data(10)), (1, .stored(10)), (1, .cancelled)])
        #expect((given.wastedBytes, given.networkBytes, given.cancelled) == (0, 10, 1))
    }

    @Test("answers are counted by where they came from", arguments: LoadSource.allCases)
    func sources(source: LoadSource) {
        var trace = LoadTrace()
        trace.source = source
        trace.bytesSaved = 3
        let found = figures([(1, .queued), (1, .finished(trace))])
        #expect(found.fromMemory + found.fromDisk + found.revalidated + found.fromNetwork == 1)
        #expect(found.savedBytes == 3)
        #expect(figures([(nil, .cached(.memory))]).fromMemory == 1)
    }
}
