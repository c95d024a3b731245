import Foundation
import TestSupport
import TestTraits
import Testing

@testable import Synchronizer

@Suite("Previews of one body", .bounded)
struct PreviewRunTests {
    /// Shows the bytes; counts its previewers.
    struct Watched: ProgressiveResource {
        let url: URL
        let previewers: Locked<Int>

        final class Bytes: Previewer {
            func preview(of body: Data) -> String? {
                ParseCancellation.isCancelled ? nil : String(decoding: body, as: UTF8.self)
            }
        }

        func request() -> URLRequest { URLRequest(url: url) }
        var parse: @Sendable (Data) throws -> String { { String(decoding: $0, as: UTF8.self) } }
        func makePreviewer() -> any Previewer<String> {
            previewers.withLock { $0 += 1 }
            return Bytes()
        }
    }

    let dues = Locked(0)
    let shown = Collector<String>()
    let previewers = Locked(0)
    let run: PreviewRun
    let head: ResponseHead

    init() throws {
        let url = try #require(URL(string: "http://a.example/a"))
        head = ResponseHead(
            try #require(HTTPURLResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: nil)))
        let resource = Watched(url: url, previewers: previewers)
        run = PreviewRun(
            interval: 0, time: ManualClock(),
            makePreviewer: {
                let previewer = resource.makePreviewer()
                return { previewer.preview(of: $0) }
            },
            isDue: { [dues] in dues.withLock { $0 += 1 } },
            report: { [shown] object, _ in shown.append("\(object)") })
    }

    func takeSlot() {
        run.preview()
        run.previewed()
    }

    @Test("requests one slot at a time, and shows all bytes that have arrived by then")
    func turnsAndBytes() {
        run.begin(head)
        run.received(Data("a".utf8), upTo: 1)
        run.received(Data("b".utf8), upTo: 2)
        #expect(dues.withLock { $0 } == 1)
        takeSlot()
        #expect(shown.elements == ["ab"])
        #expect(dues.withLock { $0 } == 2)  // for what came after the first byte
    }

    @Test("one that makes way is made anew, by another previewer")
    func makesWay() {
        run.begin(head)
        run.received(Data("a".utf8), upTo: 1)
        run.yield()
        takeSlot()
        #expect(shown.elements.isEmpty)
        #expect(dues.withLock { $0 } == 2)
        takeSlot()
        #expect(shown.elements == ["a"])
        #expect(previewers.withLock { $0 } == 2)
    }

    @Test("after a resume they go on with the same bytes, or not at all")
    func resume() {
        run.begin(head)
        run.received(Data("a".utf8), upTo: 1)
        takeSlot()
        run.resume(after: 1)
        run.received(Data("b".utf8), upTo: 2)
        takeSlot()
        #expect(shown.elements == ["a", "ab"])
        run.resume(after: 5)
        run.received(Data("f".utf8), upTo: 6)
        #expect(dues.withLock { $0 } == 2)
    }

    @Test("there are none of a body with a hole; a new response begins anew, also if a preview was due at the hole")
    func hole() {
        run.begin(head)
        run.received(Data("a".utf8), upTo: 1)
        run.received(Data("c".utf8), upTo: 3)
        takeSlot()
        run.received(Data("d".utf8), upTo: 4)
        #expect(shown.elements.isEmpty)
        run.begin(head)
        run.received(Data("x".utf8), upTo: 1)
        #expect(dues.withLock { $0 } == 2)
        takeSlot()
        #expect(shown.elements == ["x"])
    }

    @Test("a watcher that joins when bytes have gone unwatched gets none of this body")
    func unwatched() async throws {
        let (fetcher, clock) = (FakeFetcher(nothingStored: true), ManualClock())
        var configuration = Synchronizer.Configuration(urlCache: nil)
        configuration.time = clock
        let synchronizer = Synchronizer(configuration: configuration, fetcher: fetcher)
        let loader = synchronizer.loader
        let resource = Watched(url: try #require(URL(string: "http://a.example/a")), previewers: previewers)
        func subscribe(_ wants: LoadReceiver.Steps) -> LoadReceiver.ID {
            let job = synchronizer.job(for: resource, identity: resource.identity, priority: .normal)
            let receiver = LoadReceiver(wants) { [shown] step in
                if case .previewed(let object, _) = step { shown.append("\(object)") }
            }
            return synchronizer.enter(job, mayBlock: true, receiver: receiver)
        }
        let (plain, watcher) = (subscribe([]), subscribe(.previews))
        let fetch = try #require(fetcher.take("/a"))
        func receive(_ text: String) {
            fetch.report(.received(Data(text.utf8)))
            loader.parses.sync(flags: .barrier) {}
            clock.advance(by: 1)
            loader.parses.sync(flags: .barrier) {}
        }
        fetch.report(.response(head, expectedBytes: nil))
        receive("a")
        #expect(shown.elements == ["a"])
        loader.leave(watcher)
        receive("b")  // now the loader notices that no load watches
        receive("c")
        let other = subscribe(.previews)
        receive("d")
        #expect(shown.elements == ["a"])
        for id in [plain, other] { loader.leave(id) }
    }
}
