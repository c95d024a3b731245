import Foundation
import FoundationNetworking
import ScriptedServer
import TestSupport
import TestTraits
import Testing

@testable import CurlSession

@Suite(.bounded) struct EngineTests {
    /// What a load can wait for.
    enum Wait: CaseIterable {
        /// Its packets are dropped.
        case connection
        /// The server accepts, and says nothing.
        case handshake, head
    }

    /// Foundation's session woke 12,000 times a second while it waited for a connection.
    @Test(arguments: Wait.allCases) func `a load that waits does not wake the engine`(wait: Wait) async throws {
        let clock = TimedEngine()
        let bench = try Bench(timed: clock)
        bench.server["/short"] = .script(
            .delay(0.5), .text("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"))
        let listener = try Descriptor.listening(backlog: wait == .connection ? 0 : 8)
        let port = Descriptor.port(of: listener)
        // One that is not accepted fills the queue, after which the system drops what asks for a connection.
        let filling = wait == .connection ? [Descriptor.connected(to: port)] : []
        let task = bench.start { $0.url = URL(string: "\(wait == .handshake ? "https" : "http")://127.0.0.1:\(port)/") }
        await clock.settle()
        let before = await iterations(of: clock.engine)
        await bench.run("/short")
        let during = await iterations(of: clock.engine) - before
        #expect(during < 100)
        #expect(task.state == .running)
        task.cancel()
        await bench.recorder.waitForEnds(2)
        for descriptor in filling + [listener] { close(descriptor) }
    }

    private func iterations(of engine: Engine) async -> Int {
        await withCheckedContinuation { continuation in
            engine.perform { continuation.resume(returning: engine.iterations) }
        }
    }

    @Test func `its thread gets no signals, so that a write to a closed connection is an error`() async {
        let isBlocked = await withCheckedContinuation { continuation in
            Engine.shared.perform {
                var blocked = sigset_t()
                pthread_sigmask(SIG_BLOCK, nil, &blocked)
                continuation.resume(returning: sigismember(&blocked, SIGPIPE) == 1)
            }
        }
        #expect(isBlocked)
    }

    /// A child of `fork` has such duplicates until it ends or calls `exec`.
    @Test func `a socket that is closed wakes the engine no more, even if there is a duplicate of it`() async throws {
        let clock = TimedEngine()
        let bench = try Bench(timed: clock)
        bench.server["/"] = Reply("hello").closing()
        bench.server["/meanwhile"] = .script(
            .delay(0.5), .text("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"))
        let gate = Gate()
        bench.server["/held"] = Reply("held").waiting(for: gate)
        let task = bench.start("/held")
        try await gate.waitForArrivals()
        await clock.settle()
        let (pool, engine) = (bench.session.pool, clock.engine)
        let duplicates = await withCheckedContinuation { continuation in
            engine.perform { continuation.resume(returning: pool.ownSockets.map { dup($0) }) }
        }
        task.cancel()
        await bench.recorder.waitForEnds()
        gate.open()
        await clock.settle()
        let before = await iterations(of: engine)
        await bench.run("/meanwhile")
        #expect(await iterations(of: engine) - before < 100)
        for duplicate in duplicates { close(duplicate) }
    }

    @Test func `an upload to a connection that is reset is an error`() async throws {
        let bench = try Bench()
        bench.server.answerEarly(at: "/")
        bench.server["/"] = .script(.reset)
        await bench.run {
            $0.httpMethod = "POST"
            $0.httpBody = Data(count: 8 << 20)
        }
        #expect(bench.recorder.calls.last == .end(.networkConnectionLost))
    }

    /// libcurl 7.88 closes a socket without a callback if it was never connected. Another part of the process may get its number.
    @Test func `a descriptor that libcurl has closed before it was connected is not touched`() async throws {
        let clock = TimedEngine()
        let bench = try Bench(timed: clock)
        bench.server["/"] = Reply("hello")
        let listener = try Descriptor.listening(backlog: 0)
        let filling = Descriptor.connected(to: Descriptor.port(of: listener))
        defer { for descriptor in [filling, listener] { close(descriptor) } }
        let pool = bench.session.pool
        for _ in 0..<4 {
            let ends = bench.recorder.notes.withLock { $0.ends }
            let url = URL(string: "http://127.0.0.1:\(Descriptor.port(of: listener))/")
            let task = bench.start { $0.url = url }
            await clock.settle()
            let before = await bench.onEngine { pool.active.values.map(\.socket) }
            task.cancel()
            await bench.recorder.waitForEnds(ends + 1)
            await clock.settle()
            let number = try #require(before.first)
            var pair: [Int32] = [-1, -1]
            try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &pair) == 0)
            let taken = fcntl(pair[0], F_DUPFD_CLOEXEC, number)  // usually that number
            defer { for descriptor in pair + [taken] { close(descriptor) } }
            #expect(send(pair[1], "x", 1, 0) == 1)  // `taken` is readable now
            for _ in 0..<3 { await bench.run() }
            #expect(send(pair[1], "x", 1, Int32(MSG_NOSIGNAL)) == 1)
        }
    }

    @Test func `programs that are started get none of its sockets`() async throws {
        let clock = TimedEngine()
        let bench = try Bench(timed: clock)
        bench.server["/"] = Reply("hello")
        await bench.run()
        let engine = clock.engine
        let flags = await withCheckedContinuation { continuation in
            engine.perform {
                let own = (0..<Int32(4_096)).filter { engine.sockets[$0].isOwn }
                continuation.resume(returning: own.map { fcntl($0, F_GETFD) })
            }
        }
        #expect(flags == [FD_CLOEXEC])
    }

    @Test func `a child of fork knows that it has no engine`() throws {
        typealias Fork = @convention(c) () -> pid_t
        // Swift has no `fork`, but apps call libraries that do. The type is that of unistd.h.
        let fork = unsafeBitCast(try #require(dlsym(nil, "fork")), to: Fork.self)
        let session = CurlSession(configuration: .ephemeral)
        let child = fork()
        if child == 0 { _exit(session.pool.isAlive ? 1 : 0) }
        var status: Int32 = 0
        #expect(waitpid(child, &status, 0) == child && status == 0)
        #expect(session.pool.isAlive)
    }
}
