import TestSupport
import Testing

@testable import Synchronizer

@Suite("The indexed heap")
struct IndexedHeapTests {
    @Test("gives the same as a sorted list, whatever is added, moved and removed", arguments: 0..<20)
    func model(seed: Int) {
        var generator = SeededGenerator(seed: UInt64(seed))
        var heap = IndexedHeap<Int, Int>()
        var model: [Int: Int] = [:]
        for rank in 0..<500 {
            let element = Int.random(in: 0..<40, using: &generator)
            switch Int.random(in: 0..<5, using: &generator) {
            case 0:
                let isRemoved = heap.remove(element)
                #expect(isRemoved == (model.removeValue(forKey: element) != nil))
            case 1:
                let first = model.max { $0.value < $1.value }?.key
                let popped = heap.popFirst()
                #expect(popped == first)
                if let first { model[first] = nil }
            default:
                // Ranks are all different: even numbers for the newest, odd ones for the oldest.
                let rank = Bool.random(using: &generator) ? rank * 2 : -rank * 2 + 1
                heap.set(element, rank: rank)
                model[element] = rank
            }
            #expect(heap.count == model.count)
            #expect(heap.isEmpty == model.isEmpty)
            #expect(heap.contains(element) == (model[element] != nil))
            #expect(heap.firstRank == model.values.max())
        }
        var rest: [Int] = []
        while let element = heap.popFirst() { rest.append(element) }
        #expect(rest == model.sorted { $0.value > $1.value }.map(\.key))
    }
}
