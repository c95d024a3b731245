import Foundation
import ScriptedServer
import SynchronizerSupport
import TestTraits
import Testing

@testable import CurlSession

@Suite(.bounded) struct EngineTurnTests {
    /// What has been done, and by which thread.
    private final class Record: Sendable {
        let steps = Locked<[(name: String, thread: UInt)]>([])

        func add(_ name: String) {
            steps.withLock { $0.append((name, UInt(pthread_self()))) }
        }
    }

    @Test func `a thread takes a turn while the engine's sleeps`() async throws {
        let (engine, record) = (TimedEngine(), Record())
        let thread = await withCheckedContinuation { continuation in
            // The engine's thread falls asleep some time after its last command.
            Thread.detachNewThread {
                repeat {
                    engine.engine.performNow { record.add("now") }
                } while !record.steps.withLock { $0.contains { $0.thread == UInt(pthread_self()) } }
                continuation.resume(returning: UInt(pthread_self()))
            }
        }
        await engine.settle()
        #expect(record.steps.withLock { $0.last?.thread } == thread)
    }

    /// A thread may finish a load while the engine's own thread waits for the turn with an event of that load's socket.
    @Test func `an event that another thread has dealt with closes no idle connection`() async throws {
        let bench = try Bench()
        bench.server["/"] = Reply("hello")
        await bench.run()
        let pool = bench.session.pool
        pool.perform { for socket in pool.ownSockets { pool.handle(Epoll.input, on: socket) } }
        await bench.settle()
        await bench.run()
        #expect(bench.server.counts.connectionsOpened == 1)
    }

    @Test func `during a turn, commands wait for it in order`() async throws {
        let (engine, record) = (TimedEngine(), Record())
        let (begun, proceed) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                engine.engine.perform {
                    record.add("first")
                    begun.signal()
                    proceed.wait()
                    // Of the turn's own thread, too.
                    engine.engine.performNow { record.add("fourth") }
                }
                begun.wait()
                engine.engine.perform { record.add("second") }
                engine.engine.performNow { record.add("third") }
                proceed.signal()
                continuation.resume()
            }
        }
        await engine.settle()
        let steps = record.steps.withLock { $0 }
        #expect(steps.map(\.name) == ["first", "second", "third", "fourth"])
        #expect(Set(steps.map(\.thread)).count == 1)
    }

    /// Watches a socket.
    private final class Handler: EventHandler {
        let engine: Engine
        let record: Record
        let timer = UInt64.max
        let deadline = UInt64.max
        var isTimed = false
        var isTouched = false

        init(_ engine: Engine, _ record: Record, socket: Int32) {
            (self.engine, self.record) = (engine, record)
            engine.withSockets { table, epoll in
                table[socket].handler = self
                epoll.watch(socket, from: 0, to: Epoll.input)
            }
        }

        func timerFired() {}
        func deadlinePassed() {}
        func settle() { record.add("settled") }

        func handle(_: UInt32, on socket: Int32) {
            record.add("event")
            engine.touch(self)
            engine.withSockets { table, epoll in
                epoll.watch(socket, from: Epoll.input, to: 0)
                table[socket] = SocketTable.Entry()
            }
        }
    }

    /// Whether a small response is complete may depend on a large one, whose task another thread cancels.
    @Test func `what an event has changed is settled before the next command`() async throws {
        let (timed, record) = (TimedEngine(), Record())
        let engine = timed.engine
        var pair: [Int32] = [-1, -1]
        try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0, &pair) == 0)
        defer { for descriptor in pair { close(descriptor) } }
        let (own, other) = (pair[0], pair[1])
        await withCheckedContinuation { continuation in
            engine.perform {
                _ = Handler(engine, record, socket: own)
                _ = send(other, "x", 1, 0)
                engine.perform {
                    record.add("command")
                    continuation.resume()
                }
            }
        }
        await timed.settle()
        #expect(record.steps.withLock { $0.map(\.name) } == ["event", "settled", "command"])
    }
}
