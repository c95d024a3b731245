import TestSupport
import TestTraits
import Testing

@testable import Synchronizer

@Suite("The table of records, and its lists", .bounded)
struct RecordTableTests {
    struct Item: RecordLinked {
        let value: Int
        var links = RecordLinks()
    }

    @Test("gives the same as a dictionary, also beyond the indices that are kept", arguments: 0..<10)
    func table(seed: Int) {
        var generator = SeededGenerator(seed: UInt64(seed))
        var (ids, table, model, gone) = (RecordIDs(), RecordTable<Int>(), [RecordID: Int](), [RecordID]())
        for round in 0..<6 {
            for value in 0..<600 {
                let id = ids.take()
                #expect(model[id] == nil)
                model[id] = value
                table.insert(value, as: id)
                if let old = model.keys.randomElement(using: &generator) {
                    let before = table.update(old) { current in
                        defer { current = -value }
                        return current
                    }
                    #expect(before == model.updateValue(-value, forKey: old))
                }
                if let old = gone.randomElement(using: &generator) {
                    #expect(table.update(old, { $0 = 1 }) == nil)
                    #expect(table.remove(old) == nil)
                }
                if Int.random(in: 0..<3, using: &generator) == 0, let old = model.keys.randomElement(using: &generator)
                {
                    #expect(table.remove(old) == model.removeValue(forKey: old))
                    ids.giveBack(old)
                    gone.append(old)
                }
            }
            #expect(table.count == model.count && Set(table.ids) == Set(model.keys))
            #expect(model.allSatisfy { table[$0.key] == $0.value } && gone.allSatisfy { table[$0] == nil })
            guard round % 2 == 1 else { continue }
            for id in model.keys {
                table.remove(id)
                ids.giveBack(id)
                gone.append(id)
            }
            model = [:]
            #expect(table.isEmpty && ids.isIdle)
        }
    }

    @Test("lists keep the order of insertion when elements are removed", arguments: 0..<10)
    func lists(seed: Int) {
        var generator = SeededGenerator(seed: UInt64(seed))
        var (ids, table) = (RecordIDs(), RecordTable<Item>())
        var (lists, models) = ([RecordList(), RecordList()], [[RecordID](), [RecordID]()])
        for value in 0..<400 {
            let which = Int.random(in: 0..<2, using: &generator)
            if Bool.random(using: &generator) || models[which].isEmpty {
                let id = ids.take()
                table.insert(Item(value: value), as: id)
                table.append(id, to: &lists[which])
                models[which].append(id)
            } else if let id = models[which].randomElement(using: &generator) {
                table.unlink(id, from: &lists[which])
                table.unlink(id, from: &lists[which])  // in no list any more: without effect
                models[which].removeAll { $0 == id }
                table.remove(id)
                ids.giveBack(id)
            }
            for (list, model) in zip(lists, models) {
                #expect(Array(table.ids(in: list)) == model && list.isEmpty == model.isEmpty)
                let last = model.last
                #expect(table.first(in: list) { $0.value == last.flatMap { table[$0]?.value } } == last)
            }
        }
    }
}
