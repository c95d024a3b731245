import Foundation
import HostileServer
import ScriptedServer
import Synchronizer
import TestSupport

/// Loads from a server in chaos for some seconds: nothing that arrives is wrong, no completion is lost or doubled, and
/// neither memory nor descriptors grow.
final class ChaosRun: Sendable {
    /// Data whose checksum is right.
    private struct Checked: Resource {
        struct Corrupt: Error {}
        let url: URL
        func request() -> URLRequest { URLRequest(url: url, timeoutInterval: 2) }
        var parse: @Sendable (Data) throws -> Data {
            { data in
                guard ChaosBody.isWhole(data) else { throw Corrupt() }
                return data
            }
        }
    }

    private struct Counts: Sendable {
        var begun = 0, succeeded = 0, failed = 0, cancelled = 0
        /// Completions that were called twice, or after their load was cancelled.
        var unexpected = 0
        var errors: [String: Int] = [:]
        var wrong: [String] = []
        var inFlight = 0
        var isOver = false
    }

    private static let loaders = 32
    private let server: ScriptedServer
    private let counts = Observed(Counts())
    private let seed: UInt64

    init(seed: UInt64) throws {
        self.seed = seed
        server = try ScriptedServer()
        server.keepRequests(atMost: 1)
        Chaos(seed: seed).install(on: server)
    }

    /// Runs for so many seconds.
    func run(seconds: Double) async throws {
        let descriptors = Memory.descriptors
        let directory = DisposableDirectory("chaos")
        try await load(seconds, in: directory.url)
        server.stop()
        try await waitUntil("descriptors are closed") {
            Memory.descriptors.subtracting(descriptors).allSatisfy(Self.livesWithProcess)
        }
        let kept = Memory.descriptors.subtracting(descriptors)
        if kept.count > Self.maximumKept { fail("descriptors stay open: \(kept)") }
        let counts = counts.read { $0 }
        if !counts.wrong.isEmpty || counts.unexpected > 0 { fail("\(counts)") }
        say("loads \(counts.begun), whole \(counts.succeeded), failed \(counts.failed), cancelled \(counts.cancelled)")
        say("errors \(counts.errors.sorted { $0.value > $1.value })")
    }

    private func load(_ seconds: Double, in directory: URL) async throws {
        let cache = SQLiteURLCache(memoryCapacity: 1 << 20, diskCapacity: 16 << 20, directory: directory)
        var configuration = Synchronizer.Configuration(urlCache: cache)
        configuration.caching = .managed
        configuration.sessionConfiguration = .ephemeral
        configuration.memoryCapacity = 4 << 20
        configuration.retry.baseDelay = 0.001
        let synchronizer = Synchronizer(configuration: configuration)
        for number in 0..<Self.loaders {
            // Completions and cancels of a loader are on one queue, so that none may come after the other.
            begin(
                SeededGenerator(seed: seed &+ UInt64(number)), synchronizer, on: DispatchQueue(label: "chaos \(number)")
            )
        }
        var samples: [Int] = []
        for _ in 0..<20 {
            try await Task.sleep(nanoseconds: UInt64(seconds / 20 * 1e9))
            samples.append(Memory.resident)
        }
        // Beside much other work, little happens in that time.
        _ = try await counts.wait(for: "loads of each outcome") { $0.succeeded > 0 && $0.failed > 0 }
        counts.update { $0.isOver = true }
        _ = try await counts.wait(for: "the last loads") { $0.inFlight == 0 }
        say("memory \(samples.map { $0 >> 20 }) MB, \(Memory.threads) threads, \(Memory.descriptors.count) descriptors")
        // After a minute all memory is warm, and must not grow any more.
        if seconds >= 60, let end = samples.last, end - samples[6] > 24 << 20 { fail("memory grows: \(samples)") }
    }

    /// Begins a load, which begins the next one when it has ended.
    private func begin(_ dice: SeededGenerator, _ synchronizer: Synchronizer, on queue: DispatchQueue) {
        var dice = dice
        let number = dice.roll(1_000)
        let isContinued = counts.update { counts in
            guard !counts.isOver else { return false }
            counts.begun += 1
            counts.inFlight += 1
            return true
        }
        guard isContinued else { return }
        let (following, load) = (dice, Observed((calls: 0, isCancelled: false)))
        let resource = Checked(url: server.url("/chaos?\(number)"))
        let cancel = synchronizer.loadResource(resource, on: queue) { [self] result in
            let isExpected = load.update { load in
                load.calls += 1
                return load.calls == 1 && !load.isCancelled
            }
            guard isExpected else { return counts.update { $0.unexpected += 1 } }
            end(result, number)
            begin(following, synchronizer, on: queue)
        }
        guard dice.roll(3) == 0 else { return }
        queue.asyncAfter(deadline: .now() + .microseconds(dice.roll(3_000))) { [self] in
            cancel()
            guard
                load.update({ load in
                    load.isCancelled = load.calls == 0
                    return load.isCancelled
                })
            else { return }
            counts.update { counts in
                counts.cancelled += 1
                counts.inFlight -= 1
            }
            begin(following, synchronizer, on: queue)
        }
    }

    private func end(_ result: SynchronizerResult<Data>, _ number: Int) {
        counts.update { counts in
            counts.inFlight -= 1
            switch result {
            case .success(let data):
                counts.succeeded += 1
                if data != ChaosBody(number).bytes { counts.wrong.append("\(number)") }
            case .noData:
                // A body that ends with the connection, which was closed at once: whole, as far as HTTP can tell.
                counts.failed += 1
                counts.errors["empty", default: 0] += 1
            case .error(let error):
                counts.failed += 1
                counts.errors[Self.kind(of: error), default: 0] += 1
            }
        }
    }

    /// The engine of the sessions keeps an `epoll` and an event, libdispatch its timers, and `MemoryPressure` the kernel's
    /// files: each once for the process, however much is loaded.
    private static func livesWithProcess(_ descriptor: String) -> Bool {
        let kept = ["[eventpoll]", "[eventfd]", "[timerfd]", "memory", "memory.pressure"]
        return kept.contains { descriptor.hasSuffix($0) }
    }

    private static let maximumKept = 8

    private static func kind(of error: any Error) -> String {
        guard let error = error as? SynchronizerError else { return "\(error)" }
        switch error {
        case .status(let response, _): return "\(response.statusCode)"
        case .undecodable: return "corrupt"
        default: return (error.underlyingError as? URLError).map { "\($0.code.rawValue)" } ?? "\(error)"
        }
    }
}
