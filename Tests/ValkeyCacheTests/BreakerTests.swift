import TestTraits
import Testing

@testable import ValkeyCache

@Suite("The circuit breaker", .bounded)
struct BreakerTests {
    @Test("opens after three failures in a row, and logs once for each outage")
    func opening() {
        var breaker = CircuitBreaker()
        #expect(breaker.allows(at: 0))
        #expect(!breaker.fail(at: 0))
        #expect(!breaker.fail(at: 0))
        breaker.succeed()
        #expect(!breaker.fail(at: 1))
        #expect(!breaker.fail(at: 1))
        #expect(breaker.allows(at: 1))
        #expect(breaker.fail(at: 1))
        #expect(!breaker.isClosed)
        #expect(!breaker.allows(at: 1.05))
        #expect(!breaker.fail(at: 1.05))
    }

    @Test("lets one call probe after each pause, which doubles up to five seconds")
    func probing() {
        var breaker = CircuitBreaker()
        for _ in 0..<3 { _ = breaker.fail(at: 0) }
        var (now, pauses) = (0.0, [Double]())
        for _ in 0..<8 {
            let start = now
            while !breaker.allows(at: now) { now += 0.01 }
            #expect(!breaker.allows(at: now))
            pauses.append(((now - start) * 10).rounded() / 10)
            let logs = breaker.fail(at: now)
            #expect(!logs)
        }
        #expect(pauses == [0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 5, 5])
    }

    @Test("closes after a success, and logs the next outage again")
    func closing() {
        var breaker = CircuitBreaker()
        for _ in 0..<3 { _ = breaker.fail(at: 0) }
        #expect(breaker.allows(at: 1))
        breaker.succeed()
        #expect(breaker.allows(at: 1) && breaker.allows(at: 1))
        let logs = (0..<3).map { _ in breaker.fail(at: 2) }
        #expect(logs == [false, false, true])
    }

    @Test("lets another call probe if a probe tells nothing for a second")
    func lostProbe() {
        var breaker = CircuitBreaker()
        for _ in 0..<3 { _ = breaker.fail(at: 0) }
        #expect(breaker.allows(at: 0.1))
        #expect(!breaker.allows(at: 1))
        #expect(breaker.allows(at: 1.2))
    }
}
