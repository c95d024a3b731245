import Foundation
import TestTraits
import Testing

@testable import Synchronizer

@Suite("The ledger of prefetches", .bounded)
struct PrefetchLedgerTests {
    func identity(_ number: Int) throws -> RequestIdentity {
        let url = try #require(URL(string: "http://a.example/\(number)"))
        return try #require(RequestIdentity(URLRequest(url: url)))
    }

    @Test("tells used from wasted, each once, with their bytes")
    func verdicts() throws {
        var ledger = PrefetchLedger()
        for number in 0..<3 { ledger.loaded(try identity(number), bytes: 100) }
        ledger.asked(for: try identity(0))
        ledger.asked(for: try identity(0))
        ledger.cancelled(try identity(0))
        ledger.cancelled(try identity(1))
        ledger.cancelled(try identity(1))
        ledger.asked(for: try identity(1))
        ledger.asked(for: try identity(99))
        let expected = PrefetchStatistics(loaded: 3, used: 1, wasted: 1, bytes: 300, wastedBytes: 100)
        #expect(ledger.statistics == expected)
    }

    @Test("narrows its window when most is wasted, to one, and widens it with what is used")
    func window() throws {
        var ledger = PrefetchLedger()
        let first = ledger.window
        for number in 0..<16 {
            ledger.loaded(try identity(number), bytes: 1)
            ledger.cancelled(try identity(number))
        }
        #expect(ledger.window == first / 2)
        for number in 0..<160 {
            ledger.loaded(try identity(number), bytes: 1)
            ledger.cancelled(try identity(number))
        }
        #expect(ledger.window == 1)
        for number in 0..<100 {
            ledger.loaded(try identity(number), bytes: 1)
            ledger.asked(for: try identity(number))
        }
        #expect(ledger.window == PrefetchLedger.largestWindow)
    }

    @Test("keeps its window while no more than half is wasted")
    func halfAndHalf() throws {
        var ledger = PrefetchLedger()
        for number in 0..<160 {
            let before = ledger.window
            ledger.loaded(try identity(number), bytes: 1)
            number % 2 == 0 ? ledger.asked(for: try identity(number)) : ledger.cancelled(try identity(number))
            #expect(ledger.window >= before)
        }
    }

    @Test("takes what a thousand others have followed for forgotten")
    func forgotten() throws {
        var ledger = PrefetchLedger()
        for number in 0..<1_001 { ledger.loaded(try identity(number), bytes: 2) }
        #expect(ledger.statistics.wasted == 1)
        #expect(ledger.statistics.wastedBytes == 2)
        ledger.asked(for: try identity(0))
        #expect(ledger.statistics.used == 0)
    }
}
