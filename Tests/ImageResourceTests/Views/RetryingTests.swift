#if !canImport(ImageIO)
    import Foundation
    import Synchronizer
    import SynchronizerTesting
    import TestSupport
    import TestTraits
    import Testing

    @testable import ImageResource

    @Suite("A binding that is told to try again", .bounded)
    @MainActor
    struct RetryingTests {
        private let server: StubServer
        private let synchronizer: Synchronizer
        private let isBroken = Locked(true)

        init() {
            server = StubServer { [isBroken] request in
                if isBroken.withLock({ $0 }) { throw URLError(.notConnectedToInternet) }
                return Reply(request["Authorization"] ?? "", fields: ["Cache-Control": "max-age=60"])
            }
            synchronizer = server.synchronizer()
        }

        /// Each call of `request()` gives a new token.
        private struct Rotating: Resource {
            let calls = Locked(0)

            func request() -> URLRequest {
                let number = calls.withLock { calls in
                    calls += 1
                    return calls
                }
                var request = URLRequest(url: URL(string: "https://example.com/") ?? URL(fileURLWithPath: "/"))
                request.setValue("t\(number)", forHTTPHeaderField: "Authorization")
                return request
            }

            var parse: @Sendable (Data) throws -> String { { String(decoding: $0, as: UTF8.self) } }
        }

        @Test("loads again after a failure, with a new request, and does nothing otherwise")
        func retries() async throws {
            let phases = Collector<String>()
            let binding = ResourceBinding<Rotating>(synchronizer: synchronizer) { phase in
                switch phase {
                case .loading: phases.append("loading")
                case .success(let text): phases.append(text)
                case .failure: phases.append("failure")
                default: phases.append("other")
                }
            }
            binding.retry()
            #expect(phases.elements.isEmpty)
            binding.load(Rotating())
            binding.retry()  // it is still loading
            try await phases.wait(for: 2)
            binding.retry()
            binding.retry()
            try await phases.wait(for: 4)
            isBroken.withLock { $0 = false }
            binding.retry()
            #expect(try await phases.wait(for: 6) == ["loading", "failure", "loading", "failure", "loading", "t3"])
            binding.retry()
            #expect(server.requests.map { $0["Authorization"] } == ["t1", "t2", "t3"])
        }

        @Test("a binding that was cleared does not load its last resource again")
        func cleared() async throws {
            let phases = Collector<Void>()
            let binding = ResourceBinding<Rotating>(synchronizer: synchronizer) { _ in phases.append(()) }
            binding.load(Rotating())
            try await phases.wait(for: 2)
            binding.load(nil)
            binding.retry()
            #expect(server.requests.count == 1)
        }

        @Test("the prefetches of a list's items are started once, and each can be cancelled alone")
        func items() async throws {
            let gate = Gate()
            let server = StubServer { request in
                if request.path == "/slow" { try await gate.wait() }
                return Reply(request.path, fields: ["Cache-Control": "max-age=60"])
            }
            let synchronizer = server.synchronizer()
            let tasks = Locked<[PrefetchTask]>([])
            let prefetches = ItemPrefetches<String> { path in
                path == "/none" ? nil : URL(string: "https://example.com\(path)").map { DataResource(url: $0) }
            } start: { resource, identity in
                let task = synchronizer.prefetch(identified: [(resource, identity)])
                tasks.withLock { $0.append(task) }
                return task
            }
            prefetches.begin(["/slow", "/quick", "/none"])
            prefetches.begin(["/slow"])
            #expect(tasks.withLock { $0.count } == 2)
            #expect(await tasks.withLock { $0[1] }.result.loaded == 1)
            prefetches.cancel(["/slow", "/unknown"])
            #expect(await tasks.withLock { $0[0] }.result.cancelled == 1)
            prefetches.begin(["/slow"])
            gate.open()
            #expect(await tasks.withLock { $0[2] }.result.loaded == 1)
            let wasted = synchronizer.prefetchStatistics.wasted
            prefetches.begin(["/other"])
            prefetches.cancel(["/quick"])
            #expect(synchronizer.prefetchStatistics.wasted == wasted + 1, "it had finished, and no load has used it")
        }

        @Test("an item that shows another resource by now gets another prefetch, and the old one is cancelled")
        func movedItems() async throws {
            let gate = Gate()
            let server = StubServer { request in
                try await gate.wait()
                return Reply(request.path, fields: ["Cache-Control": "max-age=60"])
            }
            let synchronizer = server.synchronizer()
            let (names, tasks) = (Locked(["/a"]), Locked<[PrefetchTask]>([]))
            let prefetches = ItemPrefetches<Int> { index in
                let name = names.withLock { $0.indices.contains(index) ? $0[index] : nil }
                return name.flatMap { URL(string: "https://example.com\($0)") }.map { DataResource(url: $0) }
            } start: { resource, identity in
                let task = synchronizer.prefetch(identified: [(resource, identity)])
                tasks.withLock { $0.append(task) }
                return task
            }
            prefetches.begin([0])
            names.withLock { $0.insert("/new", at: 0) }
            prefetches.begin([0, 1])
            #expect(await tasks.withLock { $0[0] }.result.cancelled == 1)
            names.withLock { $0 = ["/new"] }
            prefetches.begin([0, 1])
            #expect(tasks.withLock { $0.count } == 3, "the first item still shows the same")
            #expect(await tasks.withLock { $0[2] }.result.cancelled == 1, "the second one shows nothing")
            gate.open()
            #expect(await tasks.withLock { $0[1] }.result.loaded == 1)
        }

        @Test("the prefetch of an item asks for its request once, and goes on while the token rotates")
        func rotatingItems() async throws {
            let gate = Gate()
            let server = StubServer { request in
                try await gate.wait()
                return Reply(request["Authorization"] ?? "", fields: ["Cache-Control": "max-age=60"])
            }
            let synchronizer = server.synchronizer()
            let (resource, tasks) = (Rotating(), Locked<[PrefetchTask]>([]))
            let prefetches = ItemPrefetches<Int> { _ in
                resource
            } start: { resource, identity in
                let task = synchronizer.prefetch(identified: [(resource, identity)])
                tasks.withLock { $0.append(task) }
                return task
            }
            prefetches.begin([0])
            #expect(resource.calls.withLock { $0 } == 1)
            prefetches.begin([0])
            #expect(tasks.withLock { $0.count } == 1)
            gate.open()
            #expect(await tasks.withLock { $0[0] }.result.loaded == 1)
            #expect(server.requests.map { $0["Authorization"] } == ["t1"])
        }
    }
#endif
