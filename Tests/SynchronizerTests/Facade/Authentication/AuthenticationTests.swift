import Foundation
import ScriptedServer
import TestSupport
import TestTraits
import Testing

@testable import Synchronizer

@Suite("Challenges", .bounded)
struct AuthenticationTests {
    /// Answers each challenge with the credential of a user.
    final class Knowing: SessionDelegate, @unchecked Sendable {  // its own state is Locked
        let user = Locked("ann")

        override func urlSession(
            _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
            completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
        ) {
            let credential = URLCredential(user: user.withLock { $0 }, password: "secret", persistence: .none)
            completionHandler(.useCredential, credential)
        }
    }

    let bench: Workbench
    let resource: DataResource
    let gate = Gate()

    init() throws {
        let bench = try Workbench()
        self.bench = bench
        resource = DataResource(url: bench.server.url("/me"))
        bench.server.handle("/me") { [gate] request in
            let users = ["ann": "Basic YW5uOnNlY3JldA==", "bob": "Basic Ym9iOnNlY3JldA=="]
            guard let user = users.first(where: { $0.value == request["Authorization"] }) else {
                return Reply("who are you?", status: 401, fields: ["WWW-Authenticate": "Basic realm=\"a\""])
            }
            return Reply(user.key, fields: ["Cache-Control": "max-age=100", "ETag": "\"1\""]).waiting(for: gate)
        }
    }

    @Test("without a credential give the 401 with its body, at once")
    func unanswered() async throws {
        gate.open()
        let error = await #expect(throws: SynchronizerError.self) { try await bench.synchronizer().load(resource) }
        #expect(error?.context.body == Data("who are you?".utf8))
        #expect((error?.context.response as? HTTPURLResponse)?.statusCode == 401)
        #expect(bench.server.requests.count == 1)
    }

    @Test("a response to a credential of the delegate is delivered to its subscribers, and not kept")
    func notShared() async throws {
        gate.open()
        let delegate = Knowing()
        let synchronizer = bench.synchronizer(delegate: delegate)
        #expect(try await synchronizer.load(resource) == Data("ann".utf8))
        #expect(synchronizer.cachedObject(for: resource) == nil)
        delegate.user.withLock { $0 = "bob" }
        #expect(try await synchronizer.load(resource) == Data("bob".utf8))
        #expect(try await bench.synchronizer(delegate: Knowing()).load(resource) == Data("ann".utf8))
    }

    @Test("a load that begins after the challenge does not coalesce with the one that answered it")
    func notJoined() async throws {
        let delegate = Knowing()
        let synchronizer = bench.synchronizer(delegate: delegate)
        let first = Task { try await synchronizer.load(resource) }
        try await gate.waitForArrivals(1)
        delegate.user.withLock { $0 = "bob" }
        let second = Task { try await synchronizer.load(resource) }
        try await gate.waitForArrivals(2)
        gate.open()
        #expect(try await first.value == Data("ann".utf8))
        #expect(try await second.value == Data("bob".utf8))
    }
}
