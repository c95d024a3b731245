import TestSupport
import Testing

@testable import ImageResource

@Suite("BindingMachine")
struct BindingMachineTests {
    @Test("the answer of the newest load is shown, once")
    func newest() {
        var machine = BindingMachine<String>()
        #expect(machine.ask("a") == .load(1, keepsObject: false))
        #expect(machine.answered(1, isObject: true) == true)
        #expect(machine.answered(1, isObject: true) == false)
    }

    @Test("an answer to what was asked for before is not shown")
    func stale() {
        var machine = BindingMachine<String>()
        _ = machine.ask("a")
        #expect(machine.ask("b") == .load(2, keepsObject: false))
        #expect(machine.answered(1, isObject: true) == false)
        #expect(machine.isLoading(1) == false)
        #expect(machine.isLoading(2) == true)
        #expect(machine.answered(2, isObject: true) == true)
    }

    @Test("what is under way is not begun anew")
    func underWay() {
        var machine = BindingMachine<String>()
        _ = machine.ask("a")
        #expect(machine.ask("a") == .goOn)
        #expect(machine.answered(1, isObject: true) == true)
    }

    @Test("what is shown stays to be seen while it is loaded again; what has failed, and what is another's, does not")
    func again() {
        var machine = BindingMachine<String>()
        _ = machine.ask("a")
        _ = machine.answered(1, isObject: true)
        #expect(machine.ask("a") == .load(2, keepsObject: true))
        _ = machine.answered(2, isObject: false)
        #expect(machine.ask("a") == .load(3, keepsObject: false))
        _ = machine.answered(3, isObject: true)
        #expect(machine.ask("b") == .load(4, keepsObject: false))
    }

    @Test("nothing is shown after a cancel, or when nothing is wanted any more")
    func cancelled() {
        var machine = BindingMachine<String>()
        _ = machine.ask("a")
        #expect(machine.cancel() == true)
        #expect(machine.cancel() == false)
        #expect(machine.answered(1, isObject: true) == false)
        #expect(machine.ask("a") == .load(2, keepsObject: false))
        #expect(machine.ask(nil) == .clear)
        #expect(machine.answered(2, isObject: true) == false)
        #expect(machine.cancel() == false)
    }

    @Test("whatever happens in whatever order, only answers to the last thing asked for are shown", arguments: 0..<50)
    func randomWalks(seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed))
        var machine = BindingMachine<Int>()
        var wanted: Int?
        var open: [(token: Int, key: Int)] = []
        for _ in 0..<200 {
            switch Int.random(in: 0..<5, using: &random) {
            case 0, 1:
                let key = Int.random(in: 0..<3, using: &random)
                if case .load(let token, _) = machine.ask(key) { open.append((token, key)) }
                wanted = key
            case 2:
                if machine.cancel() { wanted = nil }
            case 3:
                _ = machine.ask(nil)
                wanted = nil
            default:
                guard let index = open.indices.randomElement(using: &random) else { continue }
                let (token, key) = open.remove(at: index)
                if machine.answered(token, isObject: Bool.random(using: &random)) { #expect(key == wanted) }
            }
        }
    }
}
