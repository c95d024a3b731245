import TestTraits
import Testing

@testable import ValkeyCache

@Suite("The circuit breaker", .bounded)
struct BreakerTests {
    @Test("opens after three failures in a row, and logs once for each outage")
    func opening() {
        var breaker = CircuitBreaker()
        var logs = [breaker.fail(at: 0), breaker.fail(at: 0)]
        breaker.succeed()
        logs += [breaker.fail(at: 1), breaker.fail(at: 1)]
        let before = breaker.allows(at: 1)
        logs += [breaker.fail(at: 1), breaker.fail(at: 1.01)]
        let after = breaker.allows(at: 1.05)
        #expect(logs == [false, false, false, false, true, false])
        #expect(before && !after && !breaker.isClosed)
    }

    @Test("lets one call probe after each pause, which doubles up to five seconds")
    func probing() {
        var breaker = Self.open()
        var (now, pauses, others, logs) = (0.0, [Double](), [Bool](), [Bool]())
        for _ in 0..<8 {
            let start = now
            while !breaker.allows(at: now) { now += 0.01 }
            others.append(breaker.allows(at: now))
            pauses.append(((now - start) * 10).rounded() / 10)
            logs.append(breaker.fail(at: now))
        }
        #expect(pauses == [0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 5, 5])
        #expect(!others.contains(true) && !logs.contains(true))
    }

    @Test("closes after a success, and logs the next outage a minute later again")
    func closing() {
        var breaker = Self.open()
        var allowed = [breaker.allows(at: 1)]
        breaker.succeed()
        allowed += [breaker.allows(at: 1), breaker.allows(at: 1)]
        let logs = (0..<3).map { _ in breaker.fail(at: 60) }
        #expect(allowed == [true, true, true] && logs == [false, false, true])
    }

    @Test("logs at most once a minute, and an outage that goes on after that")
    func flapping() {
        var breaker = CircuitBreaker()
        var logs: [Double] = []
        for second in 0..<200 {
            for _ in 0..<3 where breaker.fail(at: Double(second)) { logs.append(Double(second)) }
            breaker.succeed()
        }
        #expect(logs == [0, 60, 120, 180])
        // The next outage begins within a minute of the last line.
        let early = (0..<3).map { _ in breaker.fail(at: 200) }
        let lines = stride(from: 201.0, to: 300, by: 6).filter { breaker.allows(at: $0) && breaker.fail(at: $0) }
        #expect(early == [false, false, false] && lines == [243])
    }

    @Test("lets another call probe if a probe tells nothing for a second")
    func lostProbe() {
        var breaker = Self.open()
        let allowed = [0.1, 1, 1.2].map { breaker.allows(at: $0) }
        #expect(allowed == [true, false, true])
    }

    @Test("lets a call probe at once when the server has answered otherwise, and does not log again before it succeeds")
    func answer() {
        var breaker = Self.open()
        var allowed = [breaker.allows(at: 0.01)]
        breaker.noteAnswer(at: 0.01)
        allowed += [breaker.allows(at: 0.01), breaker.allows(at: 0.01)]
        let logs = breaker.fail(at: 0.02)
        allowed.append(breaker.allows(at: 0.03))
        #expect(allowed == [false, true, false, false] && !logs)
    }

    /// After three failures at 0.
    private static func open() -> CircuitBreaker {
        var breaker = CircuitBreaker()
        for _ in 0..<3 { _ = breaker.fail(at: 0) }
        return breaker
    }
}
