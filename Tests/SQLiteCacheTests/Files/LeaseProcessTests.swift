import Foundation
import ScriptedServer
import SynchronizerTesting
import TestSupport
import TestTraits
import Testing

@testable import SQLiteCache

@Suite("Leases between processes", .bounded, .enabled(if: ChildProcess.isAvailable))
struct LeaseProcessTests {
    let directory = TemporaryDirectory()

    @Test("the death of the holder frees its lease, and the token grows")
    func death() throws {
        let holder = try ChildProcess("lease", directory)
        let words = try #require(holder.line()).split(separator: " ")
        #expect(words.first == "granted")
        let token = try #require(words.last.flatMap { UInt64($0) })
        let other = try ChildProcess("lease", directory)
        #expect(other.rest() == ["held", "done"])
        let cache = directory.urlCache()
        #expect(cache.lease("key", for: 3600) == .held)
        #expect(cache.lease("other", for: 3600) != .held)
        holder.kill()
        _ = holder.rest()
        guard case .granted(let lease) = cache.lease("key", for: 3600) else {
            Issue.record("no lease")
            return
        }
        #expect(lease.token == token + 1 && lease.followsAnother)
        #expect(try ChildProcess("lease", directory).rest() == ["held", "done"])
        cache.release(lease)
        let next = try ChildProcess("lease", directory)
        #expect(next.line() == "granted \(token + 2)")
    }

    @Test("without space or descriptors there are none", arguments: ["lease-full", "lease-descriptors"])
    func shortages(mode: String) throws {
        try ChildProcess(mode, directory).expectSuccess()
    }

    /// Processes that load one resource at the same time. The lines of each are collected as they come.
    private final class Fleet: @unchecked Sendable {  // one thread reads each child, and any may kill one
        let lines = Collector<(child: Int, line: String)>()
        private let children: [ChildProcess]
        private let ended: DispatchGroup

        init(_ count: Int, _ directory: TemporaryDirectory, _ server: ScriptedServer) throws {
            let port = try #require(server.url("/").port)
            nonisolated(unsafe) let children = try (0..<count).map { _ in try ChildProcess("load", directory, [port]) }
            self.children = children
            ended = onThreads(count) { [lines] child in
                while let line = children[child].line() { lines.append((child, line)) }
            }
        }

        /// The child whose request is in flight, once all others wait for it.
        func holder() async throws -> Int {
            let all = Set(children.indices)
            try await waitUntil("the others wait") { waiting.count >= all.count - 1 }
            return try #require(all.subtracting(waiting).first, "all wait")
        }

        /// The children that have waited; one may have done so more than once.
        private var waiting: Set<Int> { Set(lines.elements.filter { $0.line == "waiting" }.map(\.child)) }

        func kill(_ child: Int) { children[child].kill() }

        /// Waits until all processes have ended, and returns the lines that each of them has printed.
        func rest() async throws -> [[String]] {
            let isOver = Locked(false)
            ended.notify(queue: .global()) { isOver.withLock { $0 = true } }
            try await waitUntil("the processes end") { isOver.withLock { $0 } }
            return children.indices.map { child in lines.elements.filter { $0.child == child }.map(\.line) }
        }
    }

    @Test(
        "of processes that start together, one asks the server; if it is killed, another one asks",
        arguments: [false, true])
    func stampede(isKilled: Bool) async throws {
        let server = try ScriptedServer()
        let gate = Gate()
        server["/a"] = Reply("hello", fields: ["Cache-Control": "max-age=600"]).waiting(for: gate, .beforeHead)
        let fleet = try Fleet(10, directory, server)
        try await gate.waitForArrivals(1)
        let holder = try await fleet.holder()
        if isKilled {
            fleet.kill(holder)
            try await gate.waitForArrivals(2)
        }
        gate.open()
        let lines = try await fleet.rest()
        #expect(server.counts.requests == (isKilled ? 2 : 1))
        for (child, lines) in lines.enumerated() {
            if isKilled, child == holder {
                #expect(lines.isEmpty)
            } else {
                #expect(lines.suffix(2).map { $0.prefix(9) } == ["got hello", "done"], "\(lines)")
            }
        }
        #expect(lines.joined().count { $0 == "got hello from network" } == 1)
    }
}
