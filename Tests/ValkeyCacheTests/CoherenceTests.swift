import Foundation
import TestTraits
import Testing

@testable import ValkeyCache

@Suite("What a process knows of its copies", .bounded)
struct CoherenceTests {
    private let start = Date(timeIntervalSince1970: 1_800_000_000)

    /// A process that is told of changes, and knows that URL 1 had no removal.
    private func told() -> Coherence {
        var coherence = Coherence()
        coherence.noteToken("", of: 1, at: start)
        coherence.connected(at: start)
        return coherence
    }

    @Test("copies answer without the server only while it announces changes")
    func copies() {
        var coherence = Coherence()
        #expect(coherence.answersAlone(1))  // a server that never answered has announced nothing
        coherence.connected(at: start)
        coherence.noteToken("", of: 1, at: start)
        #expect(coherence.known(1) == nil && !coherence.answersAlone(1))
        coherence.didCopy(1, count: 2, until: .distantFuture)
        #expect(coherence.known(1) == 2)
        coherence.disconnected()
        #expect(coherence.known(1) == nil && coherence.answersAlone(1))
        coherence.connected(at: start)
        #expect(coherence.known(1) == nil && !coherence.answersAlone(1))
    }

    @Test("a change, a removal and a sweep end a copy, and a lookup in flight")
    func changes() {
        let steps: [(inout Coherence) -> Void] = [
            { $0.noteChange(1) }, { $0.noteRemoval(1, token: "t", at: .distantPast) },
            { $0.noteOwnRemoval(1, token: "t") },
            { $0.noteSweep(generation: nil, at: nil) }, { $0.connected(at: .distantPast) },
        ]
        for step in steps {
            var coherence = told()
            coherence.didCopy(1, count: 1, until: .distantFuture)
            let lookup = coherence.begin(1)
            #expect(coherence.isCurrent(lookup))
            step(&coherence)
            #expect(!coherence.isCurrent(lookup) && coherence.known(1) == nil)
            coherence.end(lookup)
            let next = coherence.begin(1)
            #expect(coherence.isCurrent(next))
        }
    }

    @Test("until a lookup has learned the last removal of a URL, its copy answers only while the server cannot")
    func unknownRemoval() {
        var coherence = Coherence()
        coherence.connected(at: start)
        coherence.didCopy(1, count: 0, until: .distantFuture)
        #expect(coherence.known(1) == nil && coherence.answersAlone(1))
    }

    @Test("a removal is remembered as long as copies are, and a response from before a forgotten one is not stored")
    func manyRemovals() {
        var coherence = told()
        let (early, later) = (start.addingTimeInterval(2), start.addingTimeInterval(4))
        coherence.noteRemoval(1, token: "t", at: early)
        for number in 2...UInt64(Coherence.maximumURLs) { coherence.noteToken("", of: number, at: early) }
        #expect(coherence.storeCondition(1, requested: later) == .expecting("t"))
        coherence.didCopy(1, count: 1, until: .distantFuture)
        #expect(coherence.localCount(1, at: start) == 1)  // a use
        coherence.noteToken("", of: 0, at: later)
        #expect(coherence.storeCondition(1, requested: later) == .expecting("t"))
        #expect(coherence.storeCondition(2, requested: early) == .expecting(nil))
        for number in 2...UInt64(Coherence.maximumURLs + 1) { coherence.noteToken("u", of: number, at: later) }
        #expect(coherence.known(1) == nil && coherence.storeCondition(1, requested: later) == .expecting(nil))
        #expect(coherence.storeCondition(1, requested: start.addingTimeInterval(1)) == .refused)
    }

    @Test("copies answer until the last of them expires", arguments: [0, 1, 2, 64])
    func expiry(_ count: Int) {
        var coherence = told()
        coherence.didCopy(1, count: count, until: start)
        let counts = [
            coherence.localCount(1, at: start.addingTimeInterval(-1)), coherence.localCount(1, at: start),
            coherence.copyCount(1),
        ]
        #expect(counts == [count, nil, count])
        #expect(coherence.hasCopies(1, since: "") && !coherence.hasCopies(1, since: "t"))
        coherence.forget(1)
        let forgotten = coherence.copyCount(1)
        #expect(forgotten == nil && !coherence.hasCopies(1, since: ""))
    }

    @Test("a change of another URL ends no copy")
    func others() {
        var coherence = told()
        coherence.didCopy(1, count: 1, until: .distantFuture)
        let lookup = coherence.begin(1)
        coherence.noteRemoval(2, token: "t", at: start)
        #expect(coherence.isCurrent(lookup) && coherence.known(1) == 1)
    }

    @Test("a lookup that overlaps with another one notices the changes since it began itself")
    func overlapping() {
        var coherence = told()
        let first = coherence.begin(1)
        coherence.noteChange(1)
        let second = coherence.begin(1)
        #expect(!coherence.isCurrent(first) && coherence.isCurrent(second))
        coherence.end(first)
        #expect(coherence.isCurrent(second))
    }

    @Test("a response that was requested before a removal elsewhere is not stored")
    func fences() {
        var coherence = told()
        let (before, after) = (start.addingTimeInterval(1), start.addingTimeInterval(3))
        #expect(coherence.storeCondition(1, requested: before) == .expecting(""))
        coherence.noteRemoval(1, token: "t", at: start.addingTimeInterval(2))
        #expect(coherence.storeCondition(1, requested: before) == .refused)
        #expect(coherence.storeCondition(1, requested: after) == .expecting("t"))
        #expect(coherence.storeCondition(2, requested: before) == .expecting(nil))
        coherence.noteSweep(generation: "g", at: start.addingTimeInterval(4))
        #expect(coherence.storeCondition(2, requested: after) == .refused)
    }

    @Test(
        "a response that was requested while no removal was announced is stored only if a lookup knows of the last one")
    func missedRemovals() {
        var coherence = Coherence()
        #expect(coherence.storeCondition(1, requested: start) == .expecting(nil))
        coherence.noteToken("", of: 2, at: start)
        coherence.connected(at: start.addingTimeInterval(2))
        #expect(!coherence.knowsRemovals(since: start.addingTimeInterval(1), at: .distantFuture))
        #expect(coherence.knowsRemovals(since: start.addingTimeInterval(2), at: .distantFuture))
        #expect(coherence.storeCondition(1, requested: start.addingTimeInterval(1)) == .refused)
        #expect(coherence.storeCondition(2, requested: start.addingTimeInterval(1)) == .expecting(""))
        coherence.noteToken("t", of: 2, at: start.addingTimeInterval(3))
        #expect(coherence.storeCondition(2, requested: start.addingTimeInterval(1)) == .refused)
    }

    @Test("a time in the future refuses nothing, because the clock was set back since")
    func clockSetBack() {
        let (now, requested) = (start.addingTimeInterval(-3600), start.addingTimeInterval(-3601))
        var coherence = told()
        coherence.noteRemoval(1, token: "t", at: start)
        #expect(coherence.storeCondition(1, requested: requested, at: now) == .expecting("t"))
        #expect(coherence.storeCondition(2, requested: requested, at: now) == .expecting(nil))
        #expect(coherence.knowsRemovals(since: requested, at: now))
        #expect(coherence.storeCondition(1, requested: requested, at: start) == .refused)
        coherence.noteSweep(generation: "g", at: start)
        #expect(coherence.storeCondition(1, requested: requested, at: now) == .expecting(nil))
        #expect(coherence.storeCondition(1, requested: requested, at: start) == .refused)
    }

    @Test("a removal that is sent again has another token, which the next response names")
    func renewal() {
        var coherence = told()
        coherence.noteOwnRemoval(1, token: "t")
        coherence.addPending("a", token: "t")
        coherence.renewPending("a", token: "other", to: "v")
        #expect(coherence.pending.tokens["a"] == "t")
        coherence.renewPending("a", token: "t", to: "u")
        #expect(
            coherence.pending.tokens["a"] == "u" && coherence.storeCondition(1, requested: start) == .expecting("t"))
        let url = URLDigest.key("a")
        coherence.noteOwnRemoval(url, token: "u")
        coherence.renewPending("a", token: "u", to: "v")
        #expect(coherence.storeCondition(url, requested: start) == .expecting("v"))
        coherence.addPendingSweep("g")
        coherence.renewPendingSweep("f", to: "h")
        #expect(coherence.pending.sweep == "g")
        coherence.renewPendingSweep("g", to: "h")
        #expect(coherence.pending.sweep == "h")
    }

    @Test("an own removal lets this process store, and names its token")
    func ownRemovals() {
        var coherence = told()
        coherence.noteOwnRemoval(1, token: "t")
        #expect(coherence.storeCondition(1, requested: start) == .expecting("t"))
        coherence.noteRemoval(1, token: "u", at: start.addingTimeInterval(1))
        coherence.noteOwnRemoval(1, token: "v")
        #expect(coherence.storeCondition(1, requested: start) == .refused)
        #expect(coherence.storeCondition(1, requested: start.addingTimeInterval(1)) == .expecting("v"))
    }

    @Test("removals stay pending until the server has them, and become a sweep if they are too many")
    func pending() {
        var coherence = told()
        coherence.addPending("a", token: "1")
        coherence.addPending("a", token: "2")
        coherence.didDeliver("a", token: "1")
        #expect(coherence.pending.contains("a") && !coherence.pending.contains("b"))
        coherence.didDeliver("a", token: "2")
        #expect(coherence.pending.isEmpty)
        for number in 0...UnsentRemovals.maximumCount { coherence.addPending("\(number)", token: "t") }
        #expect(coherence.pending.tokens.isEmpty && coherence.pending.contains("b"))
        coherence.didDeliverSweep("t")
        #expect(coherence.pending.isEmpty && coherence.generation == "t")
    }
}

extension Coherence {
    /// As long as the clock is not set back.
    fileprivate func storeCondition(_ url: UInt64, requested: Date) -> StoreCondition {
        storeCondition(url, requested: requested, at: .distantFuture)
    }

    /// Without counting as a use.
    fileprivate func known(_ url: UInt64) -> Int? {
        var copy = self
        return copy.localCount(url, at: .distantPast)
    }
}
