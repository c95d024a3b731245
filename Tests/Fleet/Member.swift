import Foundation
import Synchronizer
import SynchronizerSupport
import TestSupport

/// A process of the fleet: loads by a Zipf distribution, a few loads at a time, verifies each body, and reports each second.
final class Member: Sendable {
    struct Report: Codable {
        var loads = 0
        var failures = 0
        var wrong = 0
        var waits = 0
        var fromNetwork = 0
        /// Loads by the logarithm of their time: the bucket of t milliseconds is 8·log₂(t) + 80.
        var times: [Int: Int] = [:]
        var lastFailure = ""
    }

    private let synchronizer: Synchronizer
    private let port: Int
    private let group: String
    private let seed: UInt64
    /// Milliseconds between two loads of a task.
    private let pause: Int
    private let report = Locked(Report())
    private let popularity: [Double]

    init(cache: URLCache, port: Int, group: String, seed: Int, pause: Int, takesLeases: Bool) {
        var configuration = Synchronizer.Configuration(urlCache: cache)
        configuration.caching = .managed
        configuration.retry = .none
        if !takesLeases { configuration.leases = nil }
        (configuration.maximumLoads, configuration.maximumLoadsPerHost) = (200, 200)
        configuration.sessionConfiguration.timeoutIntervalForRequest = 10
        synchronizer = Synchronizer(configuration: configuration)
        (self.port, self.group, self.seed, self.pause) = (port, group, UInt64(seed), pause)
        var sum = 0.0
        popularity = (1...Site.urls).map { rank in
            sum += pow(Double(rank), -0.7)
            return sum
        }
    }

    /// Loads until the driver closes the standard input.
    func run(tasks: Int) async {
        let isOver = Locked(false)
        let input = Thread {
            while readLine() != nil {}
            isOver.withLock { $0 = true }
        }
        input.start()
        await withTaskGroup { group in
            for task in 0..<tasks {
                group.addTask { [self] in
                    var random = SeededGenerator(seed: seed &* 1000 &+ UInt64(task))
                    while !isOver.withLock({ $0 }) {
                        await load(&random)
                        try? await Task.sleep(for: .milliseconds(Int.random(in: 0...2 * pause, using: &random)))
                    }
                }
            }
            group.addTask { [self] in
                while !isOver.withLock({ $0 }) {
                    try? await Task.sleep(for: .milliseconds(500))
                    sayReport()
                }
            }
        }
        sayReport()
    }

    private func load(_ random: inout SeededGenerator) async {
        let place = Double.random(in: 0..<popularity[Site.urls - 1], using: &random)
        let rank = popularity.firstIndex { $0 > place } ?? 0
        let user = Site.users.randomElement(using: &random) ?? "-"
        guard let url = URL(string: "http://127.0.0.1:\(port)\(Site.path(rank))") else { return }
        var request = URLRequest(url: url)
        request.setValue(group, forHTTPHeaderField: "X-Group")
        request.setValue("\(getpid())", forHTTPHeaderField: "X-Process")
        if Site.isPersonal(rank), user != "-" { request.setValue(user, forHTTPHeaderField: "Authorization") }
        let start = DispatchTime.now().uptimeNanoseconds
        do {
            let loaded = try await synchronizer.loaded(DataResource(request: request))
            let time = Double(DispatchTime.now().uptimeNanoseconds - start) / 1e6
            let isRight = Body.isRight(loaded.object, Site.path(rank), user: Site.isPersonal(rank) ? user : "-")
            report.withLock { report in
                report.loads += 1
                report.times[Int(8 * log2(max(time, 0.001))) + 80, default: 0] += 1
                if !isRight { report.wrong += 1 }
                if loaded.trace.leaseWait > 0 { report.waits += 1 }
                if loaded.source == .network || loaded.source == .revalidated { report.fromNetwork += 1 }
            }
        } catch {
            report.withLock { report in
                report.failures += 1
                report.lastFailure = "\(error)"
            }
        }
    }

    private func sayReport() {
        let report = report.withLock { $0 }
        guard let line = try? JSONEncoder().encode(report) else { return }
        say(String(decoding: line, as: UTF8.self))
    }
}
