import Foundation
import TestSupport
import TestTraits
import Testing

@testable import Synchronizer

@Suite("The memory cache", .bounded)
struct MemoryCacheTests {
    let now = Date(timeIntervalSince1970: 1_800_000_000)
    var later: Date { now.addingTimeInterval(100) }

    func cache(cost: Int, preferred: Int, count: Int = .max, age: TimeInterval = .infinity) -> MemoryCache<String, Int>
    {
        MemoryCache(limits: .init(cost: cost, preferredCost: preferred, count: count, age: age))
    }

    @Test("a value is found until it expires, and after that only by loads that accept any age")
    func expiry() {
        let cache = cache(cost: 10, preferred: 10)
        cache.insert(1, for: "a", cost: 1, expires: later, now: now)
        #expect(cache.value(for: "a", now: now.addingTimeInterval(99.9)) == 1)
        #expect(cache.value(for: "a", now: later) == nil)
        #expect(cache.value(for: "a", now: later, anyAge: true) == 1)
    }

    @Test("a value is not found after the clock was set back by more than a minute, because its age is not known")
    func setBack() {
        let cache = cache(cost: 10, preferred: 10)
        cache.insert(1, for: "a", cost: 1, expires: later, now: now)
        #expect(cache.value(for: "a", now: now.addingTimeInterval(-59)) == 1)
        #expect(cache.value(for: "a", now: now.addingTimeInterval(-61)) == nil)
        #expect(cache.value(for: "a", now: now.addingTimeInterval(-61), anyAge: true) == 1)
    }

    @Test("no sum of costs overflows, and a value that is too large is not kept")
    func hugeCosts() {
        let unlimited = cache(cost: .max, preferred: .max)
        for key in ["a", "b", "c"] { unlimited.insert(1, for: key, cost: .max / 2, expires: later, now: now) }
        #expect(["a", "b", "c"].allSatisfy { unlimited.value(for: $0, now: now) == 1 })
        let limited = cache(cost: .max / 4, preferred: .max / 4)
        limited.insert(1, for: "a", cost: .max / 2, expires: later, now: now)
        #expect(limited.value(for: "a", now: now) == nil)
    }

    @Test("the matching values of a group are removed; they are looked at only if there are others than the given one")
    func groups() {
        let cache = MemoryCache<String, Int>(limits: .init(cost: 10, preferredCost: 10)) { $0.count }
        for (key, value) in [("a", 1), ("b", 2), ("aa", 3), ("b", 4)] {
            cache.insert(value, for: key, cost: 1, expires: later, now: now)
        }
        var seen: [String] = []
        func remove(_ group: Int, besides key: String? = nil, if matches: (Int) -> Bool = { _ in true }) {
            cache.removeGroup(group, besides: key) { key, value in
                seen.append(key)
                return matches(value)
            }
        }
        remove(2, besides: "aa")
        remove(3)
        #expect(seen.isEmpty && cache.count == 3)
        remove(1, besides: "a") { $0 == 4 }
        #expect(Set(seen) == ["a", "b"] && cache.value(for: "b", now: now) == nil && cache.count == 2)
        cache.removeAll()
        seen = []
        remove(1)
        #expect(seen.isEmpty)
    }

    @Test("over its cost it goes down to the preferred one, the least recently used first")
    func purge() {
        let cache = cache(cost: 10, preferred: 6)
        for (key, value) in [("a", 1), ("b", 2), ("c", 3)] {
            cache.insert(value, for: key, cost: 3, expires: later, now: now)
        }
        #expect(cache.value(for: "a", now: now) == 1)
        cache.insert(4, for: "d", cost: 3, expires: later, now: now)
        #expect(cache.totalCost == 6)
        #expect(cache.value(for: "b", now: now) == nil)
        #expect(cache.value(for: "c", now: now) == nil)
        #expect(cache.value(for: "a", now: now) == 1)
        #expect(cache.value(for: "d", now: now) == 4)
    }

    @Test("a value that exceeds the limit alone is not kept, and evicts only its own predecessor")
    func tooLarge() {
        let cache = cache(cost: 10, preferred: 6)
        cache.insert(1, for: "a", cost: 1, expires: later, now: now)
        cache.insert(2, for: "b", cost: 11, expires: later, now: now)
        #expect(cache.value(for: "b", now: now) == nil)
        #expect(cache.value(for: "a", now: now) == 1)
        cache.insert(3, for: "a", cost: 11, expires: later, now: now)
        #expect(cache.value(for: "a", now: now) == nil)
        #expect(cache.totalCost == 0)
    }

    @Test("the count and the age are limits too")
    func countAndAge() {
        let cache = cache(cost: 10, preferred: 10, count: 2, age: 50)
        for (key, value) in [("a", 1), ("b", 2), ("c", 3)] {
            cache.insert(value, for: key, cost: 1, expires: later, now: now)
        }
        #expect(cache.count == 2)
        #expect(cache.value(for: "a", now: now) == nil)
        #expect(cache.value(for: "c", now: now.addingTimeInterval(49.9)) == 3)
        #expect(cache.value(for: "c", now: now.addingTimeInterval(50), anyAge: true) == nil)
    }

    @Test("its cost is the sum of its values' costs after any sequence of operations")
    func accounting() {
        var generator = SeededGenerator(seed: 7)
        let cache = cache(cost: 50, preferred: 30, count: 12)
        var costs: [String: Int] = [:]
        for _ in 0..<5_000 {
            let key = String(Int.random(in: 0..<20, using: &generator))
            switch Int.random(in: 0..<4, using: &generator) {
            case 0, 1:
                costs[key] = Int.random(in: 0..<12, using: &generator)
                cache.insert(0, for: key, cost: costs[key] ?? 0, expires: later, now: now)
            case 2: _ = cache.value(for: key, now: now)
            default: cache.remove(key)
            }
            let present = (0..<20).map(String.init).filter { cache.value(for: $0, now: now) != nil }
            #expect(cache.totalCost == present.reduce(0) { $0 + (costs[$1] ?? 0) })
            #expect(cache.count == present.count && cache.count <= 12 && cache.totalCost <= 50)
        }
    }

    /// Looks into the cache when it goes.
    final class Curious: Sendable {
        let look: @Sendable () -> Void
        init(_ look: @escaping @Sendable () -> Void) { self.look = look }
        deinit { look() }
    }

    @Test("a value that is dropped may use the cache", .bounded)
    func deinits() {
        let cache = MemoryCache<Int, Curious>(limits: .init(cost: 2, preferredCost: 1))
        let looks = Locked(0)
        for number in 0..<6 {
            let curious = Curious { [weak cache, now] in
                _ = cache?.value(for: number, now: now)
                looks.withLock { $0 += 1 }
            }
            cache.insert(curious, for: number / 2, cost: 1, expires: later, now: now)
        }
        cache.remove(2)
        cache.removeAll()
        #expect(looks.withLock { $0 } == 6)
    }
}
