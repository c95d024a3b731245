import Foundation
import FoundationNetworking
import ScriptedServer
import TestTraits
import Testing

@testable import CurlSession

@Suite(.bounded) struct CurlSessionTests {
    @Test func `a response is delivered once, whole and in order`() async throws {
        let bench = try Bench()
        bench.server["/"] = Reply("hello", fields: ["X-A": "1", "x-a": "2"])
        let task = await bench.run()
        #expect(bench.recorder.calls == [.head(200), .end(nil)])
        #expect(bench.recorder.body == Data("hello".utf8))
        #expect(bench.recorder.heads.first?.fields.prefix(2).map(\.value) == ["1", "2"])
        #expect(task.state == .completed)
        #expect((task.response as? HTTPURLResponse)?.statusCode == 200)
        #expect(task.countOfBytesReceived == 5)
        #expect(task.metrics.protocolName == "http/1.1")
        #expect(task.metrics.remoteAddress == "127.0.0.1:\(bench.server.port)")
        #expect(task.metrics.bytesDecoded == 5)
    }

    @Test func `connections are used again`() async throws {
        let bench = try Bench()
        bench.server["/"] = Reply("hello")
        for _ in 0..<5 { await bench.run() }
        #expect(bench.server.counts.connectionsOpened == 1)
    }

    @Test func `a truncated body is a lost connection`() async throws {
        let bench = try Bench()
        bench.server["/length"] = Reply("hello").failing(.contentLength(10))
        bench.server["/chunks"] = Reply("hello").chunked(2).failing(.missingLastChunk)
        bench.server["/reset"] = Reply("hello").failing(.reset(.afterBody(2)))
        bench.server["/head"] = Reply("hello").failing(.close(.midHead))
        for target in ["/length", "/chunks", "/reset", "/head"] { await bench.run(target) }
        let ends = bench.recorder.calls.filter { $0 == .end(.networkConnectionLost) }
        #expect(ends.count == 4)
    }

    /// libcurl does not notice the last chunk of such a body.
    @Test func `a body with a coding in its chunks is whole, though it arrives while the task is suspended`()
        async throws
    {
        let recorder = Recorder(disposing: { task, decide in
            task.suspend()
            decide(.allow)
        })
        let bench = try Bench(recorder)
        let gate = Gate()
        let coded = Encoder.gzip(Array("hello".utf8))
        let chunks = Data("\(String(coded.count, radix: 16))\r\n".utf8) + coded + Data("\r\n0\r\n\r\n".utf8)
        bench.server["/"] = .script(
            .text("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n"), .wait(gate), .bytes(chunks), .hold)
        let task = bench.start()
        while await !bench.onEngine({ task.core.isSuspendedOnEngine }) { await Task.yield() }
        gate.open()
        let pool = bench.session.pool
        while await bench.onEngine({ !pool.active.values.contains(where: \.isPaused) }) {}
        task.resume()
        await recorder.waitForEnds()
        #expect(recorder.calls == [.head(200), .end(nil)])
        #expect(recorder.body == Data("hello".utf8))
    }

    @Test func `a task is cancelled at any moment and ends once`() async throws {
        let bench = try Bench()
        let gate = Gate()
        bench.server["/before"] = Reply("hello").waiting(for: gate)
        bench.server["/body"] = Reply("hello").waiting(for: gate, .afterBody(2))
        for target in ["/before", "/body"] {
            let ends = bench.recorder.notes.withLock { $0.ends }
            let task = bench.start(target)
            try await bench.server.waitForRequests(ends + 1)
            task.cancel()
            task.cancel()
            await bench.recorder.waitForEnds(ends + 1)
            #expect(task.state == .completed)
            #expect((task.error as? URLError)?.code == .cancelled)
        }
        try await bench.server.waitUntilConnectionsClosed()
        #expect(bench.recorder.calls.filter { $0 == .end(.cancelled) }.count == 2)
    }

    @Test func `a task that was never resumed can be cancelled`() async throws {
        let bench = try Bench()
        let task = bench.session.dataTask(with: bench.server.url())
        task.cancel()
        await bench.recorder.waitForEnds()
        task.resume()
        #expect(bench.recorder.calls == [.end(.cancelled)])
        #expect(bench.server.requests.isEmpty)
    }

    @Test func `completion handlers and async methods get the whole response`() async throws {
        let bench = try Bench()
        bench.server["/"] = Reply("hello")
        let (data, response) = try await bench.session.data(from: bench.server.url())
        #expect(data == Data("hello".utf8))
        #expect((response as? HTTPURLResponse)?.statusCode == 200)
        #expect(bench.recorder.calls.isEmpty)
    }

    @Test func `a cancelled Swift task cancels the request`() async throws {
        let bench = try Bench()
        bench.server["/"] = Reply("hello").failing(.silence(.beforeHead))
        let (session, url) = (bench.session, bench.server.url())
        let loading = Task { try await session.data(from: url) }
        try await bench.server.waitForRequests(1)
        loading.cancel()
        await #expect(throws: URLError.self) { _ = try await loading.value }
        try await bench.server.waitUntilConnectionsClosed()
    }

    @Test func `a body that is slow to be taken stays bounded, and all of it arrives`() async throws {
        let gate = DispatchSemaphore(value: 0)
        let recorder = Recorder(receiving: { _, _ in gate.wait() })
        let bench = try Bench(recorder)
        let body = Data(repeating: 7, count: 8 << 20)
        bench.server["/"] = Reply(body)
        let task = bench.start()
        while await !bench.onEngine({ task.core.transfer?.isPaused == true }) { await Task.yield() }
        // libcurl passes up to 16 KB at a time.
        let limit = Mailbox.limit + IncomingBody.maximumPiece + (16 << 10)
        #expect(task.core.state.withLock { $0.mailbox.undelivered } <= limit)
        for _ in 0..<4096 { gate.signal() }
        await recorder.waitForEnds()
        #expect(recorder.body == body)
    }

    /// libcurl keeps the bytes that it could not deliver, and delivers them in the call that continues the transfer.
    @Test func `bytes that can't be decoded when a task is resumed fail it at once`() async throws {
        let bench = try Bench()
        let gate = Gate()
        bench.server["/"] = .script(
            .wait(gate), .text("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\nthis is not gzip"), .hold)
        let task = bench.start()
        try await gate.waitForArrivals()
        task.suspend()
        await bench.settle()
        gate.open()
        while await !bench.onEngine({ task.core.transfer?.isPaused == true }) { await Task.yield() }
        task.resume()
        await bench.recorder.waitForEnds()
        #expect(bench.recorder.calls == [.head(200), .end(.cannotDecodeContentData)])
        #expect(await bench.onEngine { bench.session.pool.active.isEmpty })
    }

    @Test func `tasks that are cancelled or time out while they wait for a connection leave the queue`() async throws {
        let clock = TimedEngine()
        let bench = try Bench(timed: clock) {
            $0.httpMaximumConnectionsPerHost = 1
            $0.timeoutIntervalForResource = 20
        }
        bench.server["/"] = Reply().failing(.silence(.beforeHead))
        bench.start()
        try await bench.server.waitForRequests(1)
        let (pool, origin) = (bench.session.pool, "http://127.0.0.1:\(bench.server.port)")
        for isCancelled in [true, false] {
            clock.advance(isCancelled ? 0 : 19)
            await clock.settle()
            let tasks = (0..<10).map { _ in bench.start() }
            await bench.settle()
            #expect(await bench.onEngine { pool.slots.waiters(origin) } == 10)
            if isCancelled { for task in tasks { task.cancel() } } else { clock.advance(30) }
            await bench.recorder.waitForEnds(isCancelled ? 10 : 21)
            await bench.settle()
            #expect(await bench.onEngine { pool.queued.isEmpty && pool.slots.waiters(origin) == 0 })
        }
    }

    @Test func `cancelling in a session that has its own cache crashes nothing`() async throws {
        let bench = try Bench {
            $0.urlCache = URLCache(memoryCapacity: 1 << 20, diskCapacity: 0, diskPath: nil)
            $0.requestCachePolicy = .useProtocolCachePolicy
        }
        let gate = Gate()
        let fields: KeyValuePairs = ["Cache-Control": "max-age=100"]
        bench.server["/before"] = Reply("hello", fields: fields).waiting(for: gate)
        bench.server["/body"] = Reply("hello", fields: fields).waiting(for: gate, .afterBody(2))
        bench.server["/whole"] = Reply("hello", fields: fields)
        for _ in 0..<100 {
            for target in ["/before", "/body", "/whole"] { bench.start(target).cancel() }
        }
        let late = (0..<6).map { bench.start($0.isMultiple(of: 2) ? "/before" : "/body") }
        try await gate.waitForArrivals()
        for task in late { task.cancel() }
        await bench.recorder.waitForEnds(306)
        let calls = Set(bench.recorder.calls)
        #expect(calls.contains(.end(.cancelled)))
        #expect(calls.isSubset(of: [.head(200), .end(.cancelled), .end(nil)]))
    }

    @Test func `no more connections to a host than the configuration allows`() async throws {
        let bench = try Bench { $0.httpMaximumConnectionsPerHost = 2 }
        let gate = Gate()
        bench.server["/"] = Reply("hello").waiting(for: gate)
        for _ in 0..<6 { bench.start() }
        try await gate.waitForArrivals(2)
        #expect(bench.server.counts.connectionsOpened == 2)
        gate.open()
        await bench.recorder.waitForEnds(6)
        #expect(bench.server.counts.connectionsOpened == 2)
    }
}
