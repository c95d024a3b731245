import TestSupport
import TestTraits
import Testing

@testable import ImageCodecs
@testable import ImageResource

@Suite("BindingMachine", .bounded)
struct BindingMachineTests {
    private typealias Machine = BindingMachine<String>

    enum Event: Sendable {
        case ask(String?)
        case part(Int)
        case stored(Int)
        case object(Int)
        case failure(Int)
        case cancel
    }

    /// What a machine makes of events in turn; whether what came last is to be shown.
    private func play(_ events: [Event]) -> (machine: Machine, isShown: Bool) {
        var machine = Machine()
        var isShown = false
        for event in events {
            switch event {
            case .ask(let key): _ = machine.ask(key)
            case .part(let token): isShown = machine.previewed(token, isPart: true)
            case .stored(let token): isShown = machine.previewed(token, isPart: false)
            case .object(let token): isShown = machine.answered(token, isObject: true)
            case .failure(let token): isShown = machine.answered(token, isObject: false)
            case .cancel: _ = machine.cancel()
            }
        }
        return (machine, isShown)
    }

    @Test(
        "these are shown",
        arguments: [
            // The answer, whatever was shown before it.
            [.ask("a"), .object(1)],
            [.ask("a"), .failure(1)],
            [.ask("a"), .part(1), .object(1)],
            [.ask("a"), .part(1), .failure(1)],
            [.ask("a"), .stored(1), .object(1)],
            [.ask("a"), .stored(1), .failure(1)],
            [.ask("a"), .object(1), .ask("a"), .object(2)],
            [.ask("a"), .object(1), .ask("a"), .failure(2)],
            // What comes before it, over nothing or a part.
            [.ask("a"), .part(1)],
            [.ask("a"), .stored(1)],
            [.ask("a"), .part(1), .part(1)],
            [.ask("a"), .part(1), .stored(1)],
            [.ask("a"), .part(1), .ask("a"), .part(1)],
            [.ask("a"), .part(1), .ask("b"), .part(2)],
            [.ask("a"), .object(1), .ask("b"), .part(2)],
            [.ask("a"), .failure(1), .ask("a"), .part(2)],
            [.ask("a"), .part(1), .cancel, .ask("a"), .part(2)],
            [.ask("a"), .object(1), .ask(nil), .ask("a"), .part(2)],
        ] as [[Event]])
    func shown(_ events: [Event]) {
        #expect(play(events).isShown)
    }

    @Test(
        "these are not shown",
        arguments: [
            // Another's.
            [.ask("a"), .ask("b"), .part(1)],
            [.ask("a"), .ask("b"), .stored(1)],
            [.ask("a"), .ask("b"), .object(1)],
            [.ask("a"), .part(1), .ask("b"), .failure(1)],
            [.ask("a"), .ask("b"), .ask("a"), .part(1)],
            [.ask("a"), .ask("b"), .ask("a"), .object(1)],
            // An image that no view wants any more.
            [.ask("a"), .ask(nil), .part(1)],
            [.ask("a"), .ask(nil), .object(1)],
            [.ask("a"), .cancel, .part(1)],
            [.ask("a"), .part(1), .cancel, .object(1)],
            [.ask("a"), .cancel, .ask("a"), .part(1)],
            // After the answer.
            [.ask("a"), .object(1), .part(1)],
            [.ask("a"), .object(1), .stored(1)],
            [.ask("a"), .object(1), .object(1)],
            [.ask("a"), .failure(1), .part(1)],
            // Over an object of the same resource.
            [.ask("a"), .stored(1), .part(1)],
            [.ask("a"), .stored(1), .stored(1)],
            [.ask("a"), .object(1), .ask("a"), .part(2)],
            [.ask("a"), .object(1), .ask("a"), .stored(2)],
            [.ask("a"), .object(1), .ask("a"), .cancel, .ask("a"), .part(3)],
            [.ask("a"), .stored(1), .cancel, .ask("a"), .part(2)],
        ] as [[Event]])
    func notShown(_ events: [Event]) {
        #expect(!play(events).isShown)
    }

    @Test(
        "something stays to be seen",
        arguments: [
            [.ask("a"), .part(1)],
            [.ask("a"), .stored(1)],
            [.ask("a"), .object(1), .ask("a")],
            [.ask("a"), .part(1), .cancel],
            [.ask("a"), .part(1), .cancel, .ask("a")],
            [.ask("a"), .object(1), .ask("a"), .cancel, .ask("a")],
            [.ask("a"), .object(1), .cancel, .ask("a")],
        ] as [[Event]])
    func stays(_ events: [Event]) {
        #expect(!play(events).machine.showsNothing)
    }

    @Test(
        "nothing stays to be seen: neither of another resource, nor of one that has failed",
        arguments: [
            [],
            [.ask("a")],
            [.ask("a"), .part(1), .failure(1)],
            [.ask("a"), .stored(1), .failure(1), .ask("a")],
            [.ask("a"), .object(1), .ask("a"), .failure(2), .ask("a")],
            [.ask("a"), .object(1), .ask("b")],
            [.ask("a"), .part(1), .ask("b")],
            [.ask("a"), .object(1), .ask(nil)],
            [.ask("a"), .object(1), .ask(nil), .ask("a")],
            [.ask("a"), .object(1), .ask("b"), .ask("a")],
        ] as [[Event]])
    func nothing(_ events: [Event]) {
        #expect(play(events).machine.showsNothing)
    }

    @Test("a load in flight does not start again; any other starts with a token of its own")
    func steps() {
        var machine = Machine()
        #expect(machine.ask("a") == .load(1))
        #expect(machine.ask("a") == .goOn)
        #expect(machine.isLoading(1) == true)
        #expect(machine.ask("b") == .load(2))
        #expect(machine.isLoading(1) == false)
        #expect(machine.answered(2, isObject: true) == true)
        #expect(machine.isLoading(2) == false)
        #expect(machine.ask("b") == .load(3))
        #expect(machine.ask(nil) == .clear)
        #expect(machine.ask(nil) == .clear)
        #expect(machine.ask("b") == .load(4))
    }

    @Test("only a load in flight can be cancelled, and once")
    func cancelled() {
        var machine = Machine()
        #expect(machine.cancel() == false)
        _ = machine.ask("a")
        #expect(machine.cancel() == true)
        #expect(machine.cancel() == false)
        #expect(machine.ask("a") == .load(2))
        _ = machine.answered(2, isObject: true)
        #expect(machine.cancel() == false)
    }

    @Test(
        "whatever happens in whatever order, only what was asked for last is shown, and never less of it than before",
        arguments: 0..<50)
    func randomWalks(seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed))
        var machine = BindingMachine<Int>()
        var wanted: Int?
        /// What is to be seen: of which resource, and whether all of it.
        var seen: (key: Int, isWhole: Bool)?
        var begun: [(token: Int, key: Int)] = []
        var answered: Set<Int> = []
        for _ in 0..<300 {
            switch Int.random(in: 0..<8, using: &random) {
            case 0, 1:
                let key = Int.random(in: 0..<3, using: &random)
                if case .load(let token) = machine.ask(key) { begun.append((token, key)) }
                wanted = key
                if seen?.key != key { seen = nil }
            case 2:
                if machine.cancel() { wanted = nil }
            case 3:
                _ = machine.ask(nil)
                (wanted, seen) = (nil, nil)
            case 4, 5:
                guard let (token, key) = begun.randomElement(using: &random) else { continue }
                let isPart = Bool.random(using: &random)
                guard machine.previewed(token, isPart: isPart) else { continue }
                #expect(key == wanted && token == begun.last?.token && !answered.contains(token))
                #expect(seen?.isWhole != true)
                seen = (key, !isPart)
            default:
                guard let (token, key) = begun.randomElement(using: &random) else { continue }
                let isObject = Bool.random(using: &random)
                guard machine.answered(token, isObject: isObject) else { continue }
                #expect(key == wanted && token == begun.last?.token)
                #expect(answered.insert(token).inserted)
                seen = isObject ? (key, true) : nil
            }
            #expect(machine.showsNothing == (seen == nil))
        }
    }
}
