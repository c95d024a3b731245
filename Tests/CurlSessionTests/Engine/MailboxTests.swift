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
        var mailbox = Mailbox()
        _ = mailbox.post(.data(Data([0])))
        for number in 1...1000 {
            _ = mailbox.post(.data(Data([UInt8(truncatingIfNeeded: number)])))
            guard case .data(let piece)? = mailbox.next() else {
                Issue.record("piece \(number) is missing")
                return
            }
            #expect(piece == Data([UInt8(truncatingIfNeeded: number - 1)]))
            #expect(mailbox.events.count <= 4)
        }
    }

    /// A server may send a byte at a time.
    @Test func `many small pieces for a slow delegate become few events`() {
        var mailbox = Mailbox()
        let bytes = Data((0..<100_000).map { UInt8(truncatingIfNeeded: $0) })
        for byte in bytes { _ = mailbox.post(.data(Data([byte]))) }
        #expect(mailbox.events.count <= 70 && mailbox.undelivered == bytes.count)
        var received = Data()
        while case .data(let piece)? = mailbox.next() { received += piece }
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
    @Test func `a transfer that waits for room goes on later, even if another transfer looks at its mailbox`() {
        var mailbox = Mailbox()
        _ = mailbox.post(.data(Data(count: Mailbox.limit)))
        let first = (mailbox.checkRoom(), mailbox.delivered(Mailbox.limit / 4))
        #expect(first == (false, false))
        let second = (mailbox.checkRoom(), mailbox.delivered(Mailbox.limit / 4))
        #expect(second == (true, true))
    }

    /// The end arrives after an event has left the mailbox, and before the delegate is asked.
    @Test(arguments: [true, false])
    func `the delegate is not asked if the task ends at that moment`(isCancelled: Bool) {
        var mailbox = Mailbox()
        _ = mailbox.post(.needsBodyStream)
        _ = mailbox.post(.data(Data([1])))
        _ = mailbox.next()
        let error = URLError(isCancelled ? .cancelled : .timedOut)
        _ = isCancelled ? mailbox.cancel() : mailbox.post(.end(error))
        #expect(mailbox.awaitDecision() == nil)
        guard case .end(error)? = mailbox.next() else {
            Issue.record("the end is missing")
            return
        }
        #expect(mailbox.next() == nil)
    }

    @Test func `an end that waits for a decision can time out, and then the decision no longer counts`() {
        var mailbox = Mailbox()
        let decision = mailbox.awaitDecision() ?? 0
        _ = mailbox.post(.end(nil))
        let before = mailbox.canTimeOut
        let starts = (mailbox.startTimingDecision(), mailbox.startTimingDecision())
        #expect(!before && starts == (true, false) && mailbox.canTimeOut)
        let mustDrain = mailbox.timeOut()
        let counts = mailbox.decided(decision) != nil
        #expect(mustDrain && !counts && !mailbox.canTimeOut)
        guard case .end(let error?)? = mailbox.next() else {
            Issue.record("the end is missing")
            return
        }
        #expect(error.code == .timedOut)
        #expect(mailbox.next() == nil)
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
