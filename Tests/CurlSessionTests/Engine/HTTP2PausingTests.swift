import Foundation
import FoundationNetworking
import ScriptedServer
import SynchronizerSupport
import TestSupport
import TestTraits
import Testing

@testable import CurlSession

/// Tasks of which one takes its bytes later than the others on its connection.
@Suite(.bounded) struct HTTP2PausingTests {
    private typealias Frame = HTTP2Server.Frame
    /// So large that no response counts as large, so that the tasks share a connection.
    private static let buffer = 10 << 20
    private static let piece = [UInt8](repeating: 7, count: 16 << 10)

    /// A delegate that suspends the first task when it receives the first bytes.
    private func suspending() -> Recorder {
        let isSuspended = Locked(false)
        return Recorder(receiving: { task, _ in
            if isSuspended.withLock({
                let before = $0; $0 = true; return !before
            }) {
                task.suspend()
            }
        })
    }

    /// A server whose first response has so many times 16 KB. Other responses are short.
    private func serverOfLargeBody(pieces: Int) throws -> HTTP2Server {
        return try HTTP2Server { request, requests in
            guard requests.count == 1 else { return Frame.response(request.stream, "other") }
            let frames = (1...pieces).map { Frame.data(request.stream, Self.piece, ends: $0 == pieces) }
            return [.head(request.stream)] + frames
        }
    }

    /// libcurl 7.88 would read nothing more from the connection, and keep a core busy.
    @Test func `a suspended load does not hold up others on its connection, and gets its body later`() async throws {
        let server = try serverOfLargeBody(pieces: 128)
        let bench = try Bench.overTLS(suspending(), bufferSize: Self.buffer)
        let first = bench.start { $0.url = server.relay.url() }
        while first.state != .suspended { await Task.yield() }
        for count in 1...3 {
            bench.start { $0.url = server.relay.url() }
            await bench.recorder.waitForEnds(count)
        }
        #expect(first.state == .suspended && first.countOfBytesReceived < 1 << 20)
        first.resume()
        await bench.recorder.waitForEnds(4)
        #expect(bench.recorder.calls.filter { $0 == .end(nil) }.count == 4)
        #expect(bench.recorder.body.count == 128 << 14 + 15)
        #expect(server.relay.counts.connections == 1)
    }

    @Test func `a suspended load for which others have to take too many bytes fails`() async throws {
        guard CurlVersion.pausesConnections else { return }
        let server = try serverOfLargeBody(pieces: 1_024)
        let bench = try Bench.overTLS(suspending(), bufferSize: Self.buffer)
        let first = bench.start { $0.url = server.relay.url() }
        while first.state != .suspended { await Task.yield() }
        await bench.run { $0.url = server.relay.url() }
        await bench.recorder.waitForEnds(2)
        #expect(bench.recorder.calls.filter { $0 == .end(nil) }.count == 1)
        #expect((first.error as? URLError)?.code == .dataLengthExceedsMaximum)
    }

    /// libcurl keeps them while a transfer is paused that waits for another one.
    @Test func `the lines of a head may arrive in one piece`() async throws {
        let bench = try Bench()
        bench.server["/"] = Reply().failing(.silence(.beforeHead))
        let task = bench.start()
        try await bench.server.waitForRequests(1)
        let lines = Array("HTTP/1.1 200 OK\r\nA: 1\r\nContent-Length: 5\r\n\r\n".utf8)
        #expect(await bench.onEngine { lines.withUnsafeBytes { task.core.transfer?.receiveLines($0) } } == true)
        while task.response == nil { await Task.yield() }
        let response = task.response as? HTTPURLResponse
        #expect(response?.statusCode == 200 && response?.value(forHTTPHeaderField: "A") == "1")
        #expect(response?.expectedContentLength == 5)
        task.cancel()
        await bench.recorder.waitForEnds()
    }

    /// As a receiver does that is slower than the network. Suspended tasks fail, because they may wait for ever.
    @Test func `a held load for which others have to take too many bytes makes them wait, and does not fail`()
        async throws
    {
        guard CurlVersion.pausesConnections else { return }
        let server = try serverOfLargeBody(pieces: 1_024)
        let held = Locked<URLSessionTask?>(nil)
        let recorder = Recorder(receiving: { task, _ in
            let isFirst = held.withLock {
                guard $0 == nil else { return false }
                $0 = task
                return true
            }
            if isFirst { #expect(task.holdBody(true)) }
        })
        let bench = try Bench.overTLS(recorder, bufferSize: Self.buffer)
        let first = bench.start { $0.url = server.relay.url() }
        while held.withLock({ $0 }) == nil { await Task.yield() }
        let second = bench.start { $0.url = server.relay.url() }
        while await bench.onEngine({ bench.session.pool.blocking.isEmpty }), second.state == .running {
            await Task.yield()
        }
        #expect(first.state == .running)
        #expect(first.holdBody(false))
        await bench.recorder.waitForEnds(2)
        #expect(first.error == nil && second.error == nil)
        #expect(bench.recorder.body.count == 1_024 << 14 + 5)
    }

    /// Two responses of 12 MB that arrive together. The delegate of the first task takes nothing until the gate opens.
    private final class TwoDownloads {
        static let pieces = 768
        let bench: Bench
        let gate = DispatchSemaphore(value: 0)
        let tasks: [CurlTask]
        private let server: HTTP2Server

        init() throws {
            server = try HTTP2Server { _, requests in
                guard requests.count == 2 else { return [] }
                let streams = requests.map(\.stream)
                return streams.map { .head($0) }
                    + (1...Self.pieces).flatMap { number in
                        streams.map { .data($0, HTTP2PausingTests.piece, ends: number == Self.pieces) }
                    }
            }
            let (slow, gate) = (Locked<URLSessionTask?>(nil), gate)
            let recorder = Recorder(receiving: { task, _ in
                if task === slow.withLock({ $0 }) {
                    gate.wait()
                    gate.signal()
                }
            })
            let bench = try Bench.overTLS(recorder, queue: DispatchQueue(label: "delegates", attributes: .concurrent))
            self.bench = bench
            let url = server.relay.url()
            tasks = (0..<2).map { _ in bench.task { $0.url = url } }
            slow.withLock { $0 = tasks[0] }
            for task in tasks { task.resume() }
        }

        /// Whether a transfer has ended, or both have paused because the first has taken too many bytes ahead.
        func isStuck() async -> Bool {
            let pool = bench.session.pool
            let hasPaused = await bench.onEngine {
                pool.active.count == 2 && !pool.blocking.isEmpty && pool.active.values.allSatisfy(\.isPaused)
            }
            return hasPaused || bench.recorder.calls.contains { if case .end = $0 { true } else { false } }
        }
    }

    @Test func `two downloads with delegates of different speed share a connection, and neither fails`() async throws {
        guard CurlVersion.pausesConnections else { return }
        let downloads = try TwoDownloads()
        while !(await downloads.isStuck()) {}
        downloads.gate.signal()
        await downloads.bench.recorder.waitForEnds(2)
        #expect(downloads.bench.recorder.calls.filter { $0 == .end(nil) }.count == 2)
        #expect(downloads.bench.recorder.body.count == 2 * TwoDownloads.pieces << 14)
    }

    @Test func `a download for which another waits fails if it is suspended`() async throws {
        guard CurlVersion.pausesConnections else { return }
        let downloads = try TwoDownloads()
        while !(await downloads.isStuck()) {}
        downloads.tasks[0].suspend()
        while downloads.tasks[1].state != .completed { await Task.yield() }
        downloads.gate.signal()
        await downloads.bench.recorder.waitForEnds(2)
        #expect(downloads.tasks[1].error == nil)
        #expect((downloads.tasks[0].error as? URLError)?.code == .dataLengthExceedsMaximum)
    }
}
