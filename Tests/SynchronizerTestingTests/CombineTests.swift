#if canImport(Combine)
    import Combine
    import Foundation
    import Synchronizer
    import SynchronizerTesting
    import TestSupport
    import TestTraits
    import Testing

    /// On Apple's systems with the real module, on Linux with a stub of it: `Scripts/check-apple`.
    @Suite("Publishers", .bounded)
    struct CombineTests {
        private let url: URL

        init() throws {
            url = try #require(URL(string: "https://example.com/a"))
        }

        /// Requests what it is told, and collects what arrives.
        private final class Sink<Input: Sendable>: Subscriber, Sendable {
            let received = Collector<String>()
            let subscription = Locked<(any Subscription)?>(nil)
            private let describe: @Sendable (Input) -> String

            init(_ describe: @escaping @Sendable (Input) -> String) {
                self.describe = describe
            }

            func receive(subscription: any Subscription) { self.subscription.withLock { $0 = subscription } }

            func receive(_ input: Input) -> Subscribers.Demand {
                received.append(describe(input))
                return .none
            }

            func receive(completion: Subscribers.Completion<any Error>) {
                switch completion {
                case .finished: received.append("finished")
                case .failure(let error): received.append(error is SynchronizerError ? "failure" : "\(error)")
                }
            }

            func request(_ demand: Subscribers.Demand) { subscription.withLock { $0 }?.request(demand) }
        }

        @Test("a load publishes one value, once it is requested, and finishes")
        func loads() async throws {
            let server = StubServer { _ in Reply("hello") }
            let sink = Sink<Data> { String(decoding: $0, as: UTF8.self) }
            server.synchronizer().publisher(for: DataResource(url: url)).receive(subscriber: sink)
            #expect(server.requests.isEmpty)
            sink.request(.max(1))
            #expect(try await sink.received.wait(for: 2) == ["hello", "finished"])
        }

        @Test("a failure is that of the load")
        func fails() async throws {
            let sink = Sink<Data> { "\($0)" }
            let synchronizer = Synchronizer.stub { _ in Reply(status: 404) }
            synchronizer.publisher(for: DataResource(url: url)).receive(subscriber: sink)
            sink.request(.unlimited)
            #expect(try await sink.received.wait(for: 1) == ["failure"])
        }

        @Test("updates are the stored object, and then that of the server")
        func updates() async throws {
            let clock = ManualClock()
            let count = Collector<Void>()
            let synchronizer = Synchronizer.stub(configuration: .test(time: clock)) { _ in
                count.append(())
                return Reply("\(count.count)", fields: ["Cache-Control": "max-age=1"])
            }
            let resource = DataResource(url: url)
            _ = try await synchronizer.load(resource)
            clock.advance(by: 10)
            let fast = Sink<ResourceUpdate<Data>> { String(decoding: $0.object, as: UTF8.self) }
            synchronizer.updatesPublisher(of: resource).receive(subscriber: fast)
            fast.request(.unlimited)
            #expect(try await fast.received.wait(for: 3) == ["1", "2", "finished"])
        }

        @Test("cancelling the subscription cancels the load")
        func cancels() async throws {
            let (arrived, left) = (Gate(), Gate())
            let synchronizer = Synchronizer.stub { _ in
                defer { left.open() }
                try await arrived.wait()
                return Reply("late")
            }
            let sink = Sink<Data> { "\($0)" }
            synchronizer.publisher(for: DataResource(url: url)).receive(subscriber: sink)
            sink.request(.unlimited)
            try await arrived.waitForArrivals()
            sink.subscription.withLock { $0 }?.cancel()
            try await left.wait()
            #expect(sink.received.elements.isEmpty)
        }
    }
#endif
