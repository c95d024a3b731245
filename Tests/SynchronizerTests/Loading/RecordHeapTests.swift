import TestSupport
import TestTraits
import Testing

@testable import Synchronizer

@Suite("The heap of records", .bounded)
struct RecordHeapTests {
    @Test("gives the same as a sorted list, whatever is added, moved and removed", arguments: 0..<20)
    func model(seed: Int) {
        var generator = SeededGenerator(seed: UInt64(seed))
        var heap = RecordHeap()
        var places = RecordPlaces()
        var other = RecordHeap()  // shares the places; its elements do not concern the heap
        let strangers = (40..<60).map { RecordID(index: UInt32($0), number: 1) }
        var model: [RecordID: LoadRank] = [:]
        for rank in 0..<500 {
            let element = RecordID(index: .random(in: 0..<40, using: &generator), number: 1)
            other.set(strangers[rank % 20], rank: LoadRank(priority: .low, sequence: Int64(rank)), in: &places)
            switch Int.random(in: 0..<5, using: &generator) {
            case 0:
                let isRemoved = heap.remove(element, in: &places)
                #expect(isRemoved == (model.removeValue(forKey: element) != nil))
            case 1:
                let first = model.max { $0.value < $1.value }?.key
                let popped = heap.popFirst(in: &places)
                #expect(popped == first)
                if let first { model[first] = nil }
            default:
                // Ranks are all different: even numbers for the newest, odd ones for the oldest.
                let sequence = Int64(Bool.random(using: &generator) ? rank * 2 : -rank * 2 + 1)
                let rank = LoadRank(priority: LoadPriority.allCases[Int(sequence.magnitude) % 5], sequence: sequence)
                heap.set(element, rank: rank, in: &places)
                model[element] = rank
            }
            #expect(heap.count == model.count)
            #expect(heap.isEmpty == model.isEmpty)
            #expect(heap.contains(element, in: places) == (model[element] != nil))
            #expect(heap.firstRank == model.values.max())
            #expect(!heap.contains(RecordID(index: element.index, number: 2), in: places))
        }
        var rest: [RecordID] = []
        while let element = heap.popFirst(in: &places) { rest.append(element) }
        #expect(rest == model.sorted { $0.value > $1.value }.map(\.key))
    }
}
