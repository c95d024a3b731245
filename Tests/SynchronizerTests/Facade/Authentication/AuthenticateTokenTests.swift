import Foundation
import ScriptedServer
import TestSupport
import TestTraits
import Testing

@testable import Synchronizer

@Suite("Configuration.authenticate: which loads share a call, and what observers see", .bounded)
struct AuthenticateTokenTests {
    private let bench: Workbench

    init() throws {
        bench = try Workbench()
    }

    private func protect() {
        bench.server.handle("/x") { $0["Authorization"] == "new" ? Reply("in") : Reply("out", status: 401) }
    }

    private func resource(_ number: Int = 0) -> DataResource {
        DataResource(url: bench.server.url("/x?\(number)"))
    }

    private func synchronizer(
        _ observer: any SynchronizerObserver, authenticate: @escaping @Sendable (URLRequest) -> URLRequest?
    ) -> Synchronizer {
        bench.synchronizer { configuration in
            configuration.observer = observer
            configuration.authenticate = { request, _ in authenticate(request) }
        }
    }

    @Test("replaces tokens in URLs, with a call for each load")
    func urlTokens() async throws {
        let bench = bench
        bench.server.handle("/x") { $0.target.contains("new") ? Reply($0.target) : Reply("no", status: 401) }
        let synchronizer = bench.synchronizer { configuration in
            configuration.authenticate = { request, _ in
                var request = request
                request.url = request.url.flatMap { URL(string: $0.absoluteString + "&token=new") }
                return request
            }
        }
        let loads = (0..<6).map { number in
            Task { try await synchronizer.load(DataResource(url: bench.server.url("/x?\(number)"))) }
        }
        for (number, load) in loads.enumerated() {
            #expect(try await load.value == Data("/x?\(number)&token=new".utf8))
        }
        #expect(bench.server.counts.requests == 12)
    }

    @Test("is called at once for a load that was sent after a login by cookie")
    func sentAfterLogin() async throws {
        let mode = Locked("out")
        bench.server.handle("/x") { _ in mode.withLock { $0 } == "in" ? Reply("in") : Reply("out", status: 401) }
        let calls = Collector<Bool>()
        let synchronizer = bench.synchronizer { configuration in
            configuration.authenticate = { request, _ in
                calls.append(true)
                mode.withLock { $0 = "in" }
                return request
            }
        }
        _ = try await synchronizer.load(resource())
        mode.withLock { $0 = "expired" }
        _ = try await synchronizer.load(resource(1))
        #expect(calls.count == 2 && bench.server.counts.requests == 4)
    }

    @Test(
        "a refusal that it answers is no failure for the observer; one that it does not answer is",
        arguments: [false, true])
    func observed(fails: Bool) async throws {
        let recorder = ObservingTests.Recorder()
        protect()
        let synchronizer = synchronizer(recorder) { fails ? nil : $0.with("new") }
        _ = try? await synchronizer.load(resource())
        #expect(recorder.ends == ["refused", fails ? "failed" : "finished"])
        guard fails else { return }
        #expect(recorder.events.elements.last?.url == bench.server.url("/x?0"))
    }

    @Test("the last of too many refusals is a failure for the observer")
    func observedLimit() async throws {
        let recorder = ObservingTests.Recorder()
        bench.server["/x"] = Reply("never", status: 401)
        let synchronizer = synchronizer(recorder) { $0.with("new") }
        _ = try? await synchronizer.load(resource())
        #expect(recorder.ends == ["refused", "refused", "refused", "failed"])
    }
}

extension ObservingTests.Recorder {
    /// The names of the events that end a load.
    fileprivate var ends: [String] {
        names.filter { ["finished", "failed", "refused", "cancelled"].contains($0) }
    }
}

extension URLRequest {
    fileprivate func with(_ token: String) -> URLRequest {
        var request = self
        request.setValue(token, forHTTPHeaderField: "Authorization")
        return request
    }
}
