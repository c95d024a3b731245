import Foundation
import TestTraits
import Testing

import Synchronizer
@testable import SynchronizerTesting

@Suite("Bandwidth", .bounded)
struct ThrottleTests {
    @Test("so many bytes a second are let through, and no more", arguments: [1_000, 50_000, 10_000_000])
    func rate(bytesPerSecond: Int) {
        var bucket = TokenBucket(bytesPerSecond: bytesPerSecond, now: 0)
        var sent = 0
        var now: TimeInterval = 0
        while now < 10 {
            let allowed = bucket.allowance(for: .max, now: now)
            bucket.spend(allowed)
            sent += allowed
            if allowed == 0 { now = max(now + 1e-6, bucket.nextSlot) }
        }
        #expect(abs(sent - 10 * bytesPerSecond) <= 2 * bucket.slotSize)
    }

    @Test("idleness saves up no more than a few slots")
    func idle() {
        var bucket = TokenBucket(bytesPerSecond: 100_000, now: 0)
        var burst = 0
        while case let allowed = bucket.allowance(for: 1_000, now: 3_600), allowed > 0 {
            bucket.spend(allowed)
            burst += allowed
        }
        #expect(burst == 4 * bucket.slotSize)
    }

    @Test("connections that wait get slots in order")
    func slots() {
        var throttle = Throttle()
        _ = throttle.set(bytesPerSecond: 100_000, now: 0)
        for connection in 1...3 {
            #expect(throttle.allowance(for: 5_000, connection: connection, now: 0) == 0)
            throttle.queue(.init(connection: connection, number: 0))
        }
        var order: [Int] = []
        for slot in 1...6 {
            let now = TimeInterval(slot) * 0.0101
            guard let ticket = throttle.next(now: now) else { continue }
            order.append(ticket.connection)
            #expect(throttle.allowance(for: 5_000, connection: 9, now: now) == 0)
            let allowed = throttle.allowance(for: 5_000, connection: ticket.connection, now: now)
            #expect(allowed == 1_000)
            throttle.spend(allowed)
            throttle.queue(ticket)
        }
        #expect(order == [1, 2, 3, 1, 2, 3])
    }

    @Test("lifting the limit lets all go on")
    func lifted() {
        var throttle = Throttle()
        _ = throttle.set(bytesPerSecond: 1_000, now: 0)
        throttle.queue(.init(connection: 4, number: 1))
        #expect(throttle.set(bytesPerSecond: nil, now: 0).map(\.connection) == [4])
        #expect(throttle.allowance(for: 7, connection: 4, now: 0) == 7)
    }

    @Test("a throttled server sends everything, and notices clients that leave in the meantime")
    func throttledServer() async throws {
        let server = try ScriptedServer { Reply(Data(count: $0.path == "/endless" ? 1 << 30 : 20_000)) }
        server.limitBandwidth(to: 2_000_000)
        let client = try RawClient(server, get: "/")
        let impatient = try RawClient(server, get: "/endless")
        _ = try await client.read(through: "\r\n\r\n")
        #expect(try await client.read(20_000) == Data(count: 20_000))
        impatient.leave()
        try await server.wait { $0.repliesAbandoned == 1 }
        #expect(server.counts.bodyBytesSent < 1 << 28)
    }
}
