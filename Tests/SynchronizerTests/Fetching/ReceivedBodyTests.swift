import Foundation
import TestSupport
import TestTraits
import Testing

@testable import Synchronizer

@Suite("A body that arrives", .bounded, .serialized)  // one test looks at the addresses that all others take
struct ReceivedBodyTests {
    /// Pieces of random sizes, and what they are together.
    func pieces(_ total: Int, largest: Int, seed: UInt64) -> (pieces: [Data], whole: Data) {
        var generator = SeededGenerator(seed: seed)
        var (pieces, whole) = ([Data](), Data())
        while whole.count < total {
            let count = min(total - whole.count, Int.random(in: 1...largest, using: &generator))
            pieces.append(Data(repeating: UInt8.random(in: 0...255, using: &generator), count: count))
            whole.append(pieces[pieces.count - 1])
        }
        return (pieces, whole)
    }

    @Test(
        "is all of its pieces, whatever length was said",
        arguments: [1, 5_000, ReceivedBody.large, 1_000_000, 20_000_000],
        [nil, 0, 100, ReceivedBody.large - 1, ReceivedBody.large, 1_000_000, 20_000_000, .max])
    func pieces(total: Int, said: Int?) {
        let (pieces, whole) = pieces(total, largest: max(100, total / 10), seed: 7)
        var body = ReceivedBody()
        #expect(body.isEmpty)
        var count = 0
        for piece in pieces {
            body.append(piece, of: said)
            count += piece.count
            guard body.count == count, body.data.count == count else {
                Issue.record("\(body.count) bytes, and \(count) came")
                return
            }
        }
        #expect(body.data == whole)
    }

    @Test("has memory pages of its own if it is large, with or without a known length", arguments: [nil, 400_000])
    func ownPages(length: Int?) {
        var body = ReceivedBody()
        for _ in 0..<25 { body.append(Data(repeating: 1, count: 16_000), of: length) }
        #expect(body.data.count == 400_000)
        #expect(body.data.isAtStartOfPage)
    }

    @Test("in native mode gets each piece without a copy of the bytes so far")
    func nativePieces() {
        var reply = FakeReply(200, ["Content-Length": "1000000"])
        reply.chunks = Array(repeating: Data(repeating: 1, count: 100_000), count: 10)
        let harness = NativeHarness(reply)
        let (fetch, addresses) = (Locked<NativeFetch?>(nil), Locked<[Int]>([]))
        let started = harness.fetcher.fetch(harness.request(), options: FetchOptions(maximumBodySize: 1 << 20)) {
            event in
            guard case .received = event else { return }
            let task = fetch.withLock { $0?.state.withLock { $0?.task } }
            let address = task?.received.body.withUnsafeBytes { Int(bitPattern: $0.baseAddress) }
            addresses.withLock { $0.append(address ?? 0) }
        }
        fetch.withLock { $0 = started as? NativeFetch }
        started.proceed()
        #expect(addresses.withLock { $0.count } == 10)
        #expect(addresses.withLock { Set($0).count } == 1)
    }

    @Test("does not change for a reader that took it before more bytes arrived")
    func taken() {
        var body = ReceivedBody()
        body.append(Data(repeating: 1, count: 200_000), of: 400_000)
        let half = body.data
        var copy = body
        body.append(Data(repeating: 2, count: 200_000), of: 400_000)
        copy.append(Data(repeating: 3, count: 200_000), of: 400_000)
        #expect(half == Data(repeating: 1, count: 200_000))
        #expect(body.data == half + Data(repeating: 2, count: 200_000))
        #expect(copy.data == half + Data(repeating: 3, count: 200_000))
    }

    @Test("can be mutated by its reader like any other data")
    func changed() {
        var body = ReceivedBody()
        for _ in 0..<4 { body.append(Data(repeating: 1, count: 100_000), of: 400_000) }
        var data = body.data
        body = ReceivedBody()
        data[5] = 2
        data.append(contentsOf: [3, 4])
        data.removeFirst(5)
        #expect(data.count == 399_997)
        #expect(data.first == 2)
        #expect(data.last == 4)
    }

    #if !canImport(Darwin)
        @Test("gives its memory back, however little has come and whatever was cut off")
        func givesBack() throws {
            let before = try addressSpace()
            for _ in 0..<1_000 {
                var body = ReceivedBody()
                for _ in 0..<2 { body.append(Data(repeating: 1, count: 5_000), of: 16 << 20) }
                #expect(body.data.count == 10_000)
                var data = Data.inOwnPages(count: 16 << 20)
                data.count = 100_000
            }
            // Of thirty-two gigabytes; what other tests do meanwhile is less.
            #expect(try addressSpace() - before < 8 << 30)
        }

        /// The bytes of addresses that this process has in use, in memory or not.
        private func addressSpace() throws -> Int {
            let text = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8)
            return try #require(text.split(separator: " ").first.flatMap { Int($0) }) * Int(getpagesize())
        }
    #endif
}

extension Data {
    /// Where the system's memory begins, and never the allocator's, which keeps notes before it.
    fileprivate var isAtStartOfPage: Bool {
        withUnsafeBytes { UInt(bitPattern: $0.baseAddress) % UInt(getpagesize()) == 0 }
    }
}
