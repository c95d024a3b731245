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
}
