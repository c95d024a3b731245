import Foundation
import FoundationNetworking
import ScriptedServer
import SynchronizerSupport
import TestTraits
import Testing

@testable import CurlSession

@Suite(.bounded) struct MailboxTests {
    /// The server always delivers the next piece before the delegate has taken the last one, so the mailbox is never empty.
    @Test func `a mailbox that is never empty keeps only few of the pieces that it has delivered`() {
        var state = TaskCore.State()
        _ = state.post(.data(Data([0])))
        for number in 1...1000 {
            _ = state.post(.data(Data([UInt8(truncatingIfNeeded: number)])))
            guard case .data(let piece)? = state.next() else {
                Issue.record("piece \(number) is missing")
                return
            }
            #expect(piece == Data([UInt8(truncatingIfNeeded: number - 1)]))
            #expect(state.events.count <= 4)
        }
    }

    /// A server may send a byte at a time.
    @Test func `many small pieces for a slow delegate become few events`() {
        var state = TaskCore.State()
        let bytes = Data((0..<100_000).map { UInt8(truncatingIfNeeded: $0) })
        for byte in bytes { _ = state.post(.data(Data([byte]))) }
        #expect(state.events.count <= 70 && state.undelivered == bytes.count)
        var received = Data()
        while case .data(let piece)? = state.next() { received += piece }
        #expect(received == bytes)
    }

    /// Otherwise, all of a bomb would be decoded before its transfer ends, while all other loads wait.
    @Test func `a task that is cancelled takes no more bytes`() throws {
        let bench = try Bench()
        let task = bench.task()
        #expect(task.core.checkRoom())
        task.cancel()
        #expect(!task.core.checkRoom())
    }
    /// Another transfer of the HTTP/2 connection asks whether this one can take bytes.
    @Test func `a transfer that waits for room goes on later, even if another transfer looks at its mailbox`() throws {
        let bench = try Bench()
        let core = bench.task().core
        core.state.withLock { $0.undelivered = TaskCore.mailboxLimit }
        #expect(!core.checkRoom())
        core.state.withLock { $0.undelivered = TaskCore.mailboxLimit * 3 / 4 }
        #expect(core.checkRoom())
        #expect(core.state.withLock { $0.isStarved })
    }

    /// The end arrives after an event has left the mailbox, and before the delegate is asked.
    @Test(arguments: [true, false])
    func `the delegate is not asked if the task ends at that moment`(isCancelled: Bool) {
        var state = TaskCore.State()
        _ = state.post(.needsBodyStream)
        _ = state.post(.data(Data([1])))
        _ = state.next()
        let error = URLError(isCancelled ? .cancelled : .timedOut)
        _ = isCancelled ? state.cancel() : state.post(.end(error))
        #expect(state.await() == nil)
        guard case .end(error)? = state.next() else {
            Issue.record("the end is missing")
            return
        }
        #expect(state.next() == nil)
    }

    @Test func `a task with many events lets others have their turn on a serial queue`() async throws {
        let bench = try Bench()
        bench.server["/"] = .script(.hold)
        let core = bench.start().core
        let seen = Locked(0)
        bench.queue.suspend()
        await bench.onEngine {
            for _ in 0..<100 { core.deliver(Data([1])) }
        }
        await bench.settle()
        await withCheckedContinuation { continuation in
            bench.queue.async {
                seen.withLock { $0 = bench.recorder.body.count }
                continuation.resume()
            }
            bench.queue.resume()
        }
        #expect(seen.withLock { $0 } == 16)
        while bench.recorder.body.count < 100 { await Task.yield() }
    }

    @Test func `on a concurrent queue, a delegate may wait for the delegate of another task`() async throws {
        let (first, other) = (Locked<URLSessionTask?>(nil), DispatchSemaphore(value: 0))
        let recorder = Recorder(receiving: { task, _ in
            if task === first.withLock({ $0 }) { other.wait() } else { other.signal() }
        })
        let bench = try Bench(recorder, queue: DispatchQueue(label: "delegates", attributes: .concurrent))
        bench.server["/"] = .script(.hold)
        let tasks = [bench.start(), bench.start()]
        first.withLock { $0 = tasks[0] }
        await bench.onEngine {
            for task in tasks { task.core.deliver(Data([1])) }
        }
        for task in tasks {
            while task.countOfBytesReceived < 1 { await Task.yield() }
        }
    }
}
