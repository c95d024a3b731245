import Foundation
import TestTraits
import Testing

@testable import Synchronizer

@Suite("The decisions about refused credentials", .bounded)
struct AuthenticationsTests {
    private typealias Machine = Authentications<Int>

    private func request(_ token: String?, _ url: String = "http://a.example/x") -> URLRequest {
        var request = URLRequest(url: URL(string: url) ?? URL(fileURLWithPath: "/"))
        request.setValue(token, forHTTPHeaderField: "Authorization")
        return request
    }

    private func refusal(
        _ load: Int, _ token: String?, sentAt: Int = 0, origin: String = "http://a.example"
    ) -> Machine.Refusal {
        let error = SynchronizerError.notCached(.init(url: nil, trace: LoadTrace()))
        return .init(load: load, origin: origin, request: request(token), error: error, sentAt: sentAt)
    }

    private func name(_ step: Machine.Step) -> String {
        switch step {
        case .authenticate(let refusal): "authenticate \(refusal.load)"
        case .wait: "wait"
        case .send(let load, let request): "send \(load) \(request.value(forHTTPHeaderField: "authorization") ?? "-")"
        case .fail(let load, _): "fail \(load)"
        }
    }

    /// Reports that the call for a load has ended with this token.
    private func end(
        _ machine: inout Machine, _ refusal: Machine.Refusal, _ token: String?, cancelled: Set<Int> = []
    ) -> [String] {
        let result = token.map { request($0) }
        return machine.ended(.init(for: refusal), with: .success(result)) { !cancelled.contains($0) }.map(name)
    }

    @Test("one call serves the loads with the same credentials; the next credentials get a call of their own")
    func sharing() {
        var machine = Machine()
        let first = refusal(1, "a1")
        #expect(name(machine.refused(first)) == "authenticate 1")
        let other = refusal(3, "b1")
        #expect(
            [refusal(2, "a1"), other, refusal(4, "b1"), refusal(5, "a1")].map { name(machine.refused($0)) } == [
                "wait", "wait", "wait", "wait",
            ])
        #expect(end(&machine, first, "a2", cancelled: [5]) == ["send 1 a2", "send 2 a2", "authenticate 3", "wait"])
        #expect(end(&machine, other, nil) == ["fail 3", "fail 4"])
        #expect(name(machine.refused(refusal(6, "b1"))) == "authenticate 6", "nil is not remembered")
    }

    @Test("credentials that were replaced more than once get the newest; those that are valid again replace none")
    func chains() {
        var machine = Machine()
        for (old, new) in [("1", "2"), ("2", "3")] {
            let call = refusal(0, old)
            #expect(name(machine.refused(call)) == "authenticate 0")
            #expect(end(&machine, call, new) == ["send 0 \(new)"])
        }
        #expect(name(machine.refused(refusal(1, "1"))) == "send 1 3")
        let call = refusal(2, "3")
        #expect(name(machine.refused(call)) == "authenticate 2")
        #expect(end(&machine, call, "2") == ["send 2 2"])
        #expect(name(machine.refused(refusal(3, "1"))) == "send 3 2")
        #expect(name(machine.refused(refusal(4, "2"))) == "authenticate 4")
    }

    @Test("another origin has calls of its own, and a log-out forgets all credentials")
    func origins() {
        var machine = Machine()
        let call = refusal(0, "1")
        _ = machine.refused(call)
        #expect(name(machine.refused(refusal(1, "1", origin: "http://b.example"))) == "authenticate 1")
        _ = end(&machine, call, "2")
        machine.forgetReplacements()
        #expect(name(machine.refused(refusal(2, "1"))) == "authenticate 2")
    }

    @Test("nothing uses the result of a call that began before a log-out: the loads wait for a new call")
    func loggingOut() {
        var machine = Machine()
        let call = refusal(0, nil)
        _ = machine.refused(call)
        machine.forgetReplacements()
        #expect(name(machine.refused(refusal(1, nil))) == "wait")
        #expect(end(&machine, call, "old user", cancelled: [0]) == ["authenticate 1"])
        #expect(end(&machine, refusal(1, nil), "new user") == ["send 1 new user"])
        #expect(name(machine.refused(refusal(2, nil))) == "send 2 new user")
    }

    @Test("a call that changes no header helps only requests that were sent before it ended")
    func unchanged() {
        var machine = Machine()
        let call = refusal(0, nil)
        _ = machine.refused(call)
        #expect(end(&machine, call, nil) == ["fail 0"])
        _ = machine.refused(call)
        _ = machine.ended(.init(for: call), with: .success(call.request)) { _ in true }
        #expect(name(machine.refused(refusal(1, nil, sentAt: 1))) == "send 1 -")
        #expect(name(machine.refused(refusal(2, nil, sentAt: 2))) == "authenticate 2")
    }

    @Test("a load that leaves is forgotten at once; the running call goes on, and serves later loads")
    func leaving() {
        var machine = Machine()
        let call = refusal(0, "1")
        #expect(name(machine.refused(call)) == "authenticate 0")
        #expect(name(machine.refused(refusal(1, "1"))) == "wait")
        #expect(name(machine.refused(refusal(2, "1", origin: "http://b.example"))) == "authenticate 2")
        #expect(machine.leave(1)?.load == 1 && machine.leave(0)?.load == 0)
        #expect(machine.leave(1) == nil && machine.leave(7) == nil)
        #expect(machine.waiting.mapValues(\.count) == ["http://a.example": 0, "http://b.example": 1])
        #expect(name(machine.refused(refusal(3, "1"))) == "wait", "one call at a time")
        #expect(end(&machine, call, "2") == ["send 3 2"])
        #expect(name(machine.refused(refusal(4, "1"))) == "send 4 2")
        #expect(machine.waiting.keys.elementsEqual(["http://b.example"]))
        #expect(name(machine.refused(refusal(5, "2"))) == "authenticate 5")
    }

    @Test("a token in the URL is of no use to another load, which gets a call of its own")
    func urlTokens() {
        var machine = Machine()
        let calls = (0..<6).map { refusal($0, nil) }
        #expect(calls.map { name(machine.refused($0)) } == ["authenticate 0"] + Array(repeating: "wait", count: 5))
        for (number, call) in calls.enumerated() {
            let result = request(nil, "http://a.example/x?token=new")
            let steps = machine.ended(.init(for: call), with: .success(result)) { _ in true }.map(name)
            let others = (number + 1..<6).map { $0 == number + 1 ? "authenticate \($0)" : "wait" }
            #expect(steps == ["send \(number) -"] + others)
        }
    }

    @Test("a field that is not known as a credential is one if the call changes nothing else")
    func unknownFields() {
        var machine = Machine()
        let calls = [("1", "7"), ("1", "8"), ("2", "9")].enumerated().map { number, fields in
            var call = refusal(number, nil)
            var request = call.request
            request.setValue(fields.0, forHTTPHeaderField: "X-Ticket")
            request.setValue(fields.1, forHTTPHeaderField: "X-Number")
            call = .init(load: call.load, origin: call.origin, request: request, error: call.error, sentAt: 0)
            return call
        }
        for call in calls { _ = machine.refused(call) }
        var new = calls[0].request
        new.setValue("new", forHTTPHeaderField: "X-Ticket")
        let steps = machine.ended(.init(for: calls[0]), with: .success(new)) { _ in true }
        #expect(steps.map(name) == ["send 0 -", "send 1 -", "authenticate 2"])
        guard case .send(_, let second) = steps[1] else { return }
        #expect(second.value(forHTTPHeaderField: "X-Ticket") == "new")
        #expect(second.value(forHTTPHeaderField: "X-Number") == "8")
    }

    /// A refusal of a request with a token and further fields.
    private func refusal(
        _ load: Int, _ token: String?, fields: [String: String], url: String = "http://a.example/x"
    ) -> Machine.Refusal {
        var request = request(token, url)
        for (name, value) in fields { request.setValue(value, forHTTPHeaderField: name) }
        let plain = refusal(load, token)
        return .init(load: load, origin: plain.origin, request: request, error: plain.error, sentAt: 0)
    }

    /// How a call ends that gives the loads no other credentials.
    private enum Ending: CaseIterable {
        case throwing, withNil, unchanged

        func result(of request: URLRequest) -> Result<URLRequest?, any Error> {
            switch self {
            case .throwing: .failure(CocoaError(.fileNoSuchFile))
            case .withNil: .success(nil)
            case .unchanged: .success(request)
            }
        }
    }

    @Test(
        "a field of one request is no credential: one call serves all loads with the token, however it ends",
        arguments: Ending.allCases, ["Idempotency-Key", "X-Idempotency-Key", "X-CSRF-Token"])
    private func fieldsOfOneRequest(ending: Ending, name: String) {
        var machine = Machine()
        let calls = (0..<10).map { refusal($0, "old", fields: [name: "\($0)"]) }
        for call in calls { _ = machine.refused(call) }
        let steps = machine.ended(.init(for: calls[0]), with: ending.result(of: calls[0].request)) { _ in true }
        #expect(steps.map(self.name) == calls.map { ending == .unchanged ? "send \($0.load) old" : "fail \($0.load)" })
    }

    @Test("a call that changes Idempotency-Key changes that of no other load")
    func idempotencyKeys() {
        var machine = Machine()
        let calls = (0..<2).map { refusal($0, "old", fields: ["Idempotency-Key": "\($0)"]) }
        for call in calls { _ = machine.refused(call) }
        let new = refusal(0, "new", fields: ["Idempotency-Key": "7"]).request
        let steps = machine.ended(.init(for: calls[0]), with: .success(new)) { _ in true }
        #expect(steps.map(name) == ["send 0 new", "send 1 new"])
        guard case .send(_, let second) = steps[1] else { return }
        #expect(second.value(forHTTPHeaderField: "Idempotency-Key") == "1")
    }

    @Test(
        "no load gets the answer to another user, who differs in a credential that the call does not change",
        arguments: ["Cookie", "X-Api-Key", "Proxy-Authorization", "Signature", "the URL"], [nil, "shared"])
    func otherUsers(credential: String, token: String?) {
        var machine = Machine()
        let calls = ["ann", "bob"].enumerated().map { load, user in
            credential == "the URL"
                ? refusal(load, nil, fields: [:], url: "http://\(user):secret@a.example/x")
                : refusal(load, token, fields: [credential: user])
        }
        #expect(calls.map { name(machine.refused($0)) } == ["authenticate 0", "wait"])
        var new = calls[0].request
        new.setValue("ann's", forHTTPHeaderField: "Authorization")
        #expect(
            machine.ended(.init(for: calls[0]), with: .success(new)) { _ in true }.map(name) == [
                "send 0 ann's", "authenticate 1",
            ])
        new = calls[1].request
        new.setValue("bob's", forHTTPHeaderField: "Authorization")
        #expect(machine.ended(.init(for: calls[1]), with: .success(new)) { _ in true }.map(name) == ["send 1 bob's"])
        #expect(calls.map { name(machine.refused($0)) } == ["send 0 ann's", "send 1 bob's"], "later refusals")
    }

    @Test("a user name in the URL of a request with a token does not matter")
    func userInfo() {
        var machine = Machine()
        let calls = [
            refusal(0, "old", fields: [:]), refusal(1, "old", fields: [:], url: "http://ann@a.example/x"),
        ]
        for call in calls { _ = machine.refused(call) }
        #expect(end(&machine, calls[0], "new") == ["send 0 new", "send 1 new"])
    }

    @Test("if credentials change, other fields that change too do not matter")
    func otherFields() {
        var machine = Machine()
        let calls = (0..<2).map { number -> Machine.Refusal in
            let call = refusal(number, "old")
            var request = call.request
            request.setValue("\(number)", forHTTPHeaderField: "X-Number")
            return .init(load: number, origin: call.origin, request: request, error: call.error, sentAt: 0)
        }
        for call in calls { _ = machine.refused(call) }
        var new = request("new")
        new.setValue("2", forHTTPHeaderField: "X-Number")
        #expect(
            machine.ended(.init(for: calls[0]), with: .success(new)) { _ in true }.map(name) == [
                "send 0 new", "send 1 new",
            ])
    }
}
