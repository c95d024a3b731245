import Foundation
import SynchronizerTesting
import TestTraits
import Testing

@Suite("A gate", .bounded)
struct GateTests {
    @Test("admits any number of arrivals")
    func many() async throws {
        let gate = Gate()
        for _ in 0..<2 { gate.admit(.max) }
        for _ in 0..<3 { try await gate.wait() }
        #expect(gate.arrivals == 3)
    }

    @Test("gives the admission of an arrival that was cancelled to the next one")
    func cancelled() async throws {
        let gate = Gate()
        let gone = Task { try await gate.wait() }
        try await gate.waitForArrivals()
        gone.cancel()
        await #expect(throws: CancellationError.self) { try await gone.value }
        let next = Task { try await gate.wait() }
        try await gate.waitForArrivals(2)
        gate.admit()
        try await next.value
        #expect(gate.arrivals == 2)
    }

    @Test("lets nothing through when an arrival is cancelled, and admits in the order of arrival")
    func order() async throws {
        let gate = Gate()
        var waiting: [Task<Void, any Error>] = []
        for count in 1...3 {
            waiting.append(Task { try await gate.wait() })
            try await gate.waitForArrivals(count)
        }
        waiting[0].cancel()
        await #expect(throws: CancellationError.self) { try await waiting[0].value }
        gate.admit()
        try await waiting[1].value
        waiting[2].cancel()
        await #expect(throws: CancellationError.self) { try await waiting[2].value }
    }

    @Test("admits nothing for a count below one", arguments: [0, -1, .min])
    func nothing(_ count: Int) async throws {
        let gate = Gate()
        gate.admit(count)
        let waiting = Task { try await gate.wait() }
        try await gate.waitForArrivals()
        gate.admit(count)
        gate.admit()
        try await waiting.value
        let next = Task { try await gate.wait() }
        try await gate.waitForArrivals(2)
        next.cancel()
        await #expect(throws: CancellationError.self) { try await next.value }
    }
}
