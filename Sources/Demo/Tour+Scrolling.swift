import Foundation
import ImageResource
import ScriptedServer
import Synchronizer

extension Tour {
    /// Scrolls past 200 cells on a slow link, and cancels the loads of cells that have left the screen.
    mutating func scroll() async throws {
        let synchronizer = makeSynchronizerWithoutCache()
        let feed = try await synchronizer.load(JSONResource<SampleFeed>(url: site.server.url("/feed.json?items=200")))
        site.server.limitBandwidth(to: 4_000_000)
        site.server.setLatency(0.02)
        let before = site.server.counts
        let start = DispatchTime.now().uptimeNanoseconds
        let list = await ScrolledList(feed.items, with: synchronizer, terminal: terminal)
        await list.scrollToEnd()
        let seconds = TimeInterval(DispatchTime.now().uptimeNanoseconds - start) / 1e9
        let cost = site.server.counts - before
        site.server.limitBandwidth(to: nil)
        site.server.setLatency(0)
        let shown = await list.shown
        add(
            Report.Pass(
                name: "scrolled", loaded: shown, cancelled: feed.items.count - shown, requests: cost.requests,
                notModified: 0, bytes: cost.bodyBytesSent, seconds: seconds),
            words: "\(feed.items.count) cells flung past a screen of \(ScrolledList.visible), at 4 MB/s: "
                + "\(feed.items.count - shown) loads cancelled,\n    "
                + "\(feed.items.count - cost.requests) of them before they cost a request; "
                + "all of them together would have been \(Report.Pass.words(bytes: try size(of: feed)))")
    }

    /// The number of bytes that loading everything would have taken.
    private func size(of feed: SampleFeed) throws -> Int {
        let sizes = try SamplePhotograph.all().map { ($0.file, $0.data.count) }
        let sizeOfFile = Dictionary(uniqueKeysWithValues: sizes)
        return feed.items.reduce(0) { $0 + sizeOfFile[$1.url.lastPathComponent, default: 0] }
    }

    /// The images must come from the network, or there would be nothing to cancel.
    private func makeSynchronizerWithoutCache() -> Synchronizer {
        var configuration = Synchronizer.Configuration(urlCache: nil)
        configuration.caching = .managed
        return Synchronizer(configuration: configuration)
    }
}

/// A list on a screen, scrolled by one cell every ten milliseconds.
@MainActor
private final class ScrolledList {
    nonisolated static let visible = 12
    private let items: [SampleFeed.Item]
    private let synchronizer: Synchronizer
    private let terminal: Terminal
    private var loading: [Int: CancelLoading] = [:]
    private var whenAllAreShown: CheckedContinuation<Void, Never>?
    private(set) var shown = 0

    init(_ items: [SampleFeed.Item], with synchronizer: Synchronizer, terminal: Terminal) {
        self.items = items
        self.synchronizer = synchronizer
        self.terminal = terminal
    }

    func scrollToEnd() async {
        for index in items.indices {
            appear(index)
            disappear(index - Self.visible)
            terminal.show(index + 1, of: items.count, as: "cells scrolled past")
            try? await Task.sleep(nanoseconds: 10_000_000)
        }
        guard !loading.isEmpty else { return }
        await withCheckedContinuation { whenAllAreShown = $0 }
    }

    private func appear(_ index: Int) {
        let resource = ImageResource(url: items[index].url, maxPixelSize: 320)
        loading[index] = {}
        let cancel = synchronizer.loadResource(resource) { [self] result in
            if case .success = result { shown += 1 }
            loading[index] = nil
            guard loading.isEmpty else { return }
            whenAllAreShown?.resume()
            whenAllAreShown = nil
        }
        if loading[index] != nil { loading[index] = cancel }
    }

    private func disappear(_ index: Int) {
        loading.removeValue(forKey: index)?()
    }
}
