import Foundation
import TestTraits
import Testing

@testable import Synchronizer

@Suite("The window of prefetches", .bounded)
struct PrefetchWindowTests {
    func identity(_ number: Int) throws -> CoalescingKey {
        let url = try #require(URL(string: "http://a.example/\(number)"))
        return try #require(CoalescingKey(URLRequest(url: url)))
    }

    @Test("tells used from wasted, each once, with their bytes")
    func verdicts() throws {
        var window = PrefetchWindow()
        for number in 0..<3 { window.loaded(try identity(number), bytes: 100) }
        window.noteUse(of: try identity(0))
        window.noteUse(of: try identity(0))
        window.cancelled(try identity(0))
        window.cancelled(try identity(1))
        window.cancelled(try identity(1))
        window.noteUse(of: try identity(1))
        window.noteUse(of: try identity(99))
        let expected = PrefetchStatistics(loaded: 3, used: 1, wasted: 1, bytes: 300, wastedBytes: 100)
        #expect(window.statistics == expected)
    }

    @Test("halves the window, down to one, when most prefetches are wasted, and widens it with each that is used")
    func window() throws {
        var window = PrefetchWindow()
        let first = window.size
        for number in 0..<16 {
            window.loaded(try identity(number), bytes: 1)
            window.cancelled(try identity(number))
        }
        #expect(window.size == first / 2)
        for number in 0..<160 {
            window.loaded(try identity(number), bytes: 1)
            window.cancelled(try identity(number))
        }
        #expect(window.size == 1)
        for number in 0..<100 {
            window.loaded(try identity(number), bytes: 1)
            window.noteUse(of: try identity(number))
        }
        #expect(window.size == PrefetchWindow.largest)
    }

    @Test("keeps its window while no more than half is wasted")
    func halfAndHalf() throws {
        var window = PrefetchWindow()
        for number in 0..<160 {
            let before = window.size
            window.loaded(try identity(number), bytes: 1)
            number % 2 == 0 ? window.noteUse(of: try identity(number)) : window.cancelled(try identity(number))
            #expect(window.size >= before)
        }
    }

    @Test("counts a resource once that is prefetched twice before a load uses it")
    func repeated() throws {
        var window = PrefetchWindow()
        for group in 1...2 { window.loaded(try identity(1), bytes: 2, group: group) }
        window.cancelled(group: 1)  // the second group still wants it
        #expect(window.statistics.loaded == 1 && window.statistics.bytes == 2 && window.statistics.wasted == 0)
        window.noteUse(of: try identity(1))
        window.loaded(try identity(1), bytes: 2, group: 3)
        #expect(window.statistics.loaded == 2 && window.statistics.used == 1)
    }

    @Test("counts a resource as wasted after a thousand others")
    func forgotten() throws {
        var window = PrefetchWindow()
        for number in 0..<1_001 { window.loaded(try identity(number), bytes: 2) }
        #expect(window.statistics.wasted == 1)
        #expect(window.statistics.wastedBytes == 2)
        window.noteUse(of: try identity(0))
        #expect(window.statistics.used == 0)
    }
}
