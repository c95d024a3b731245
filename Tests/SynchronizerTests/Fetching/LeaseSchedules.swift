import Foundation
import HTTPCaching
import SynchronizerTesting
import TestSupport
import TestTraits
import Testing

@testable import Synchronizer

/// Loads of two users in two processes each, with replies, cancellations, deaths and time in every order.
@Suite("Leases, in random orders of events", .bounded)
struct LeaseSchedules {
    private final class Run {
        let store = FakeLeases()
        let clock = ManualClock()
        let processes: [FakeProcess]
        var random: SeededGenerator
        /// The loads, with the number of their process.
        var loads: [(process: Int, events: Events, isCancelled: Bool)] = []

        init(seed: UInt64, stale: Bool) {
            random = SeededGenerator(seed: seed)
            let (store, clock) = (store, clock)
            processes = (0..<4).map { _ in
                FakeProcess(
                    store, clock,
                    rules: CacheRules(
                        staleWhileRevalidate: stale ? 30 : 0, staleIfError: 0, staleIfUnreachable: .infinity))
            }
            for process in processes { process.transport.hold() }
            if seed % 3 == 0 { store.grantAsIfAfterAnother() }
        }

        func user(_ process: Int) -> String { process % 2 == 0 ? "a" : "b" }

        var inFlight: [Int] { processes.map(\.transport.held.count) }

        func load() throws {
            let process = Int.random(in: 0..<4, using: &random)
            var request = URLRequest(url: try #require(URL(string: "http://a.example/x")))
            request.setValue(user(process), forHTTPHeaderField: "Authorization")
            loads.append((process, processes[process].load(request), false))
        }

        func reply(_ process: Int, isUseful: Bool) {
            let body = user(process)
            let useless: [FakeReply] = [
                .failure(.timedOut), FakeReply(503), FakeReply(200, ["Cache-Control": "no-store"], body),
                FakeReply(200, ["Cache-Control": "max-age=0"], body),
            ]
            let useful = FakeReply(200, ["Cache-Control": "max-age=60"], body)
            processes[process].transport.release(isUseful ? useful : useless.randomElement(using: &random) ?? useful)
        }

        /// Every load that was not cancelled has a response for its own user, unless the server failed; and nothing is left.
        func finish() {
            while inFlight.reduce(0, +) > 0 || store.waiting > 0 {
                for process in processes.indices { reply(process, isUseful: true) }
                if inFlight.reduce(0, +) == 0 { store.expire() }
            }
            for load in loads where !load.isCancelled {
                #expect(load.events.isOver)
                if let body = load.events.body { #expect(body == user(load.process)) }
            }
            #expect(store.held == 0 && store.waiting == 0)
        }
    }

    @Test("with any replies, cancellations and deaths", arguments: 0..<300)
    func anything(seed: Int) throws {
        let run = Run(seed: UInt64(seed), stale: seed % 2 == 0)
        for _ in 0..<60 {
            switch Int.random(in: 0..<10, using: &run.random) {
            case 0..<4: try run.load()
            case 4..<6: run.reply(Int.random(in: 0..<4, using: &run.random), isUseful: true)
            case 6: run.reply(Int.random(in: 0..<4, using: &run.random), isUseful: false)
            case 7: run.store.expire()
            case 8:
                guard let index = run.loads.indices.randomElement(using: &run.random) else { continue }
                run.loads[index].isCancelled = true
                run.loads[index].events.fetch?.cancel()
            default: run.clock.advance(by: .random(in: 0...50, using: &run.random))
            }
        }
        run.finish()
    }

    @Test("with servers that answer and processes that live, each user has one request in flight", arguments: 0..<100)
    func calm(seed: Int) throws {
        let run = Run(seed: UInt64(seed), stale: seed % 2 == 0)
        for _ in 0..<60 {
            switch Int.random(in: 0..<6, using: &run.random) {
            case 0..<3: try run.load()
            case 3..<5: run.reply(Int.random(in: 0..<4, using: &run.random), isUseful: true)
            // A response that takes longer than it is fresh answers no other process.
            case _ where run.inFlight.reduce(0, +) > 0: break
            default: run.clock.advance(by: .random(in: 0...50, using: &run.random))
            }
            let inFlight = run.inFlight
            #expect(inFlight[0] + inFlight[2] <= 1 && inFlight[1] + inFlight[3] <= 1)
        }
        run.finish()
        #expect(run.loads.allSatisfy { $0.events.body == run.user($0.process) })
    }
}
