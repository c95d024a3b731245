import Foundation
import ScriptedServer
import TestSupport
import TestTraits
import Testing

@testable import Synchronizer

/// `Scripts/test --soak SECONDS`, with `--sanitize thread` too, lets it go on for longer.
@Suite("A soak", .bounded)
struct SoakTests {
    /// What each thread does at least, however long it takes.
    static let steps = 1_000

    struct Shared: Sendable {
        let bench: Workbench
        let synchronizer: Synchronizer
        let wrong = Locked<[String]>([])
        let answers = Locked(0)

        func resource(_ number: Int) -> DataResource {
            DataResource(url: bench.server.url("/soak?\(number)"))
        }

        func check(_ number: Int, _ data: Data?) {
            answers.withLock { $0 += 1 }
            if let data, data != Data("/soak?\(number)".utf8) { wrong.withLock { $0.append("\(number): \(data)") } }
        }
    }

    @Test("16 threads load, cancel, promote, prefetch, purge and invalidate; then nothing is left")
    func soak() async throws {
        let bench = try Workbench()
        bench.server.handle("/soak") { request in
            let number = request.query.flatMap(Int.init) ?? 0
            if number % 29 == 0 { return Reply("busy", status: 503) }
            if number % 31 == 0 { return Reply(request.target).failing(.reset(.afterHead)) }
            let fields: KeyValuePairs = ["Cache-Control": "max-age=\(number % 3)", "ETag": "\"1\""]
            return Reply(request.target, fields: fields).conditional()
        }
        weak var leaked: Synchronizer?
        weak var leakedLoader: Loader?
        do {
            let synchronizer = bench.synchronizer {
                $0.time = SystemTime()
                $0.cancellationGracePeriod = 0.001
                $0.retry = RetryPolicy()
                $0.retry.baseDelay = 0.001
            }
            (leaked, leakedLoader) = (synchronizer, synchronizer.loader)
            let shared = Shared(bench: bench, synchronizer: synchronizer)
            await Self.run(shared)
            #expect(shared.wrong.withLock { $0 } == [])
            #expect(shared.answers.withLock { $0 } > 100)
            try await synchronizer.waitUntilIdle()
            let left = synchronizer.loader.update { ($0.downloads.count, $0.parses.count, $0.receivers.count) }
            #expect(left == (0, 0, 0))
        }
        try await bench.server.waitUntilConnectionsClosed()
        try await waitUntil("the synchronizer is gone") { leaked == nil && leakedLoader == nil }
    }

    /// Threads, and not tasks, because those would share two or three threads here.
    static func run(_ shared: Shared) async {
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<16 {
                group.addTask {
                    await withCheckedContinuation { done in
                        Thread {
                            var walker = Walker(shared: shared, seed: number)
                            let end = Date() + Soak.seconds
                            var steps = 0
                            while steps < Self.steps || Date() < end || shared.answers.withLock({ $0 }) <= 100 {
                                walker.step()
                                steps += 1
                            }
                            walker.leave()
                            done.resume()
                        }.start()
                    }
                }
            }
        }
    }

    struct Walker {
        let shared: Shared
        var generator: SeededGenerator
        var cancels: [CancelLoading] = []
        var tasks: [LoadTask] = []

        init(shared: Shared, seed: Int) {
            self.shared = shared
            generator = SeededGenerator(seed: UInt64(seed))
        }

        mutating func step() {
            let number = Int.random(in: 0..<200, using: &generator)
            let priority = LoadPriority.allCases.randomElement(using: &generator) ?? .normal
            let (synchronizer, resource) = (shared.synchronizer, shared.resource(number))
            switch Int.random(in: 0..<100, using: &generator) {
            case 0..<40:
                cancels.append(
                    synchronizer.loadResource(resource, priority: priority, on: .global()) { [shared] result in
                        if case .success(let data) = result { shared.check(number, data) }
                    })
            case 40..<60:
                if !cancels.isEmpty { cancels.remove(at: Int.random(in: 0..<cancels.count, using: &generator))() }
            case 60..<70:
                tasks.append(
                    synchronizer.startLoading(resource, priority: priority) { [shared] result in
                        if case .success(let data) = result { shared.check(number, data) }
                    })
            case 70..<78:
                tasks.randomElement(using: &generator)?.priority = priority
            case 78..<82:
                if !tasks.isEmpty { tasks.removeFirst().cancel() }
            case 82..<88:
                let near = (number..<number + 10).map(shared.resource)
                let prefetch = synchronizer.prefetch(near, to: Bool.random(using: &generator) ? .memory : .disk)
                prefetch.priority = priority
                cancels.append { prefetch.cancel() }
            case 88..<92:
                shared.check(number, synchronizer.cachedObject(for: resource))
            case 92..<96:
                synchronizer.invalidate(resource)
            case 96..<98:
                synchronizer.memory.purge()
            case 98:
                synchronizer.removeAllObjects()
            default:
                if number < 10 { synchronizer.removeAll() }
            }
            if cancels.count > 50 { cancels.removeFirst()() }
            if tasks.count > 20 { tasks.removeFirst().cancel() }
        }

        mutating func leave() {
            cancels.forEach { $0() }
            tasks.forEach { $0.cancel() }
        }
    }
}
