#if canImport(UIKit) && !os(watchOS) || canImport(AppKit)
    import Foundation
    import SwiftUI
    import Synchronizer
    import SynchronizerTesting
    import TestSupport
    import TestTraits
    import Testing

    @testable import ImageResource

    #if canImport(UIKit)
        import UIKit
        private typealias PlatformButton = UIButton
    #else
        import AppKit
        private typealias PlatformButton = NSButton
    #endif

    /// On Apple's systems with the real modules, on Linux with stubs of them: `Scripts/check-apple`.
    @Suite("Views of resources, buttons and lists", .bounded)
    @MainActor
    struct AppleViewsOfResourcesTests {
        private let bench: Workbench
        private let synchronizer: Synchronizer
        private let sample: Data

        init() throws {
            bench = try Workbench()
            synchronizer = bench.synchronizer(cacheTime: 3600)
            sample = try AppleSamples.data()
            bench.server["/image"] = Reply(sample)
        }

        @Test("an image is loaded with a request of one's own, into a view and into a button")
        func ownRequest() async throws {
            let sample = sample
            bench.server.handle("/private") { request in
                request["Authorization"] == "token" ? Reply(sample) : Reply(status: 401)
            }
            var request = URLRequest(url: bench.server.url("/private"))
            request.setValue("token", forHTTPHeaderField: "Authorization")
            let (view, button) = (PlatformImageView(frame: .zero), PlatformButton(frame: .zero))
            view.loadImage(RemoteImage(request: request), synchronizer: synchronizer)
            try await waitUntil("the view shows the image") { view.image != nil }
            button.loadImage(RemoteImage(request: request), synchronizer: synchronizer)
            #expect(button.displayedImage === view.image)
            button.loadImage(bench.server.url("/image"), placeholder: nil, synchronizer: synchronizer)
            #expect(button.displayedImage == nil)
            try await waitUntil("the button shows the image") { button.displayedImage != nil }
            #expect(button.imageSizing != .stored)
        }

        @Test("a SwiftUI view that is told to try again does so")
        func modelRetries() async throws {
            let resource = RemoteImage(url: bench.server.url("/later"))
            bench.server.enqueue(Reply(status: 404), for: "/later")
            bench.server["/later"] = Reply(sample)
            let model = ResourceModel<RemoteImage>()
            let task = Task { await model.follow(resource, identity: resource.identity, from: synchronizer) }
            func phase() -> ResourceBinding<RemoteImage>.Phase {
                model.phase(
                    for: resource, identity: resource.identity, from: synchronizer, changingBy: Transaction())
            }
            try await waitUntil("the load has failed") { if case .failure = phase() { true } else { false } }
            model.retry()
            try await waitUntil("the image is shown") { phase().object != nil }
            task.cancel()
            await task.value
        }

        @Test("a SwiftUI view whose object is in memory counts as one hit")
        func modelCountsOnce() async throws {
            let hits = Collector<URL?>()
            let synchronizer = bench.synchronizer(cacheTime: 3600) { $0.observer = Hits(urls: hits) }
            let resource = DataResource(url: bench.server.url("/image"))
            _ = try await synchronizer.load(resource)
            let model = ResourceModel<DataResource>()
            func phase() -> ResourceBinding<DataResource>.Phase {
                model.phase(
                    for: resource, identity: resource.identity, from: synchronizer, changingBy: Transaction())
            }
            for _ in 0..<2 { #expect(phase().object == sample) }
            #expect(hits.count == 0)
            let task = Task { await model.follow(resource, identity: resource.identity, from: synchronizer) }
            try await waitUntil("the task has begun") { model.followed == 1 }
            #expect(phase().object == sample && hits.count == 1)
            task.cancel()
            await task.value
        }

        @Test("a SwiftUI view that gets another synchronizer loads from that one")
        func modelOfTwo() async throws {
            let resource = RemoteImage(url: bench.server.url("/image"))
            let other = bench.synchronizer(cacheTime: 3600, cache: Synchronizer.Configuration.test().urlCache)
            let model = ResourceModel<RemoteImage>()
            for synchronizer in [synchronizer, other] {
                let task = Task { await model.follow(resource, identity: resource.identity, from: synchronizer) }
                try await waitUntil("the image is shown") {
                    model.phase(
                        for: resource, identity: resource.identity, from: synchronizer, changingBy: Transaction()
                    ).object != nil
                }
                task.cancel()
                await task.value
            }
            #expect(bench.server.counts.requests == 2)
        }

        @Test("the synchronizer of the environment is the shared one, unless it is set")
        func environment() {
            var values = EnvironmentValues()
            #expect(values.synchronizer === Synchronizer.shared)
            values.synchronizer = synchronizer
            #expect(values.synchronizer === synchronizer)
        }

        #if canImport(UIKit)
            @Test("a list's prefetcher prefetches items, and cancels them")
            func lists() async throws {
                let gate = Gate()
                bench.server["/slow"] = Reply("slow").waiting(for: gate)
                bench.server["/quick"] = Reply("quick", fields: ["Cache-Control": "max-age=60"])
                let urls = [bench.server.url("/slow"), bench.server.url("/quick")]
                let prefetcher = ListPrefetcher(synchronizer: synchronizer) { path in
                    path.item < 2 ? DataResource(url: urls[path.item]) : nil
                }
                let paths = (0..<3).map { IndexPath(item: $0, section: 0) }
                let (grid, table) = (UICollectionView(frame: .zero), UITableView(frame: .zero))
                prefetcher.collectionView(grid, prefetchItemsAt: paths)
                try await gate.waitForArrivals()
                try await waitUntil("one is prefetched") { synchronizer.prefetchStatistics.loaded == 1 }
                prefetcher.collectionView(grid, cancelPrefetchingForItemsAt: paths)
                try await bench.server.wait(for: "the load to end") { $0.connectionsClosedByPeer > 0 }
                prefetcher.tableView(table, prefetchRowsAt: [paths[0]])
                try await gate.waitForArrivals(2)
                prefetcher.tableView(table, cancelPrefetchingForRowsAt: [paths[0]])
                gate.open()
            }
        #endif
    }

    /// Collects the hits in memory.
    private struct Hits: SynchronizerObserver {
        let urls: Collector<URL?>

        func synchronizerDid(_ event: SynchronizerEvent) {
            if case .cached(.memory) = event.kind { urls.append(event.url) }
        }
    }
#endif
