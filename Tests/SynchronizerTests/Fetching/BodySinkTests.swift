import Foundation
import TestSupport
import TestTraits
import Testing

@testable import SQLiteCache
@testable import Synchronizer

@Suite("A body on its way to a file", .bounded)
struct BodySinkTests {
    let files: FileBench
    /// What the transfer was told.
    let told = Collector<Bool>()

    init() throws {
        files = try FileBench()
    }

    private func sink(isKnown: @escaping @Sendable () -> Bool = { true }) -> BodySink {
        let places = BodyPlaces(store: nil, target: FileTarget(files.file()), url: "http://a.example/x")
        return BodySink(places, going: nil, resumable: nil, length: nil) { [told] isPaused in
            guard isKnown() else { return false }
            told.append(isPaused)
            return true
        } failed: { _ in
        }
    }

    @Test("pauses its transfer once while the disk is behind, and lets it go on once", arguments: [true, false])
    func pauses(isKnownLate: Bool) async throws {
        let isKnown = Locked(!isKnownLate)
        let sink = sink { isKnown.withLock { $0 } }
        let disk = DispatchSemaphore(value: 0)
        sink.tap.attach { _ in disk.wait() }
        sink.start()
        let body = FileBench.body(1_000_000)
        for start in stride(from: 0, to: body.count, by: 50_000) { sink.append(body.dropFirst(start).prefix(50_000)) }
        isKnown.withLock { $0 = true }
        for _ in 0..<3 { sink.transferIsKnown() }
        try await told.wait(for: 1)
        #expect(told.elements == [true])
        for _ in 0..<20 { disk.signal() }
        try await told.wait(for: 2)
        let count = Collector<Int>()
        sink.end { result in count.append((try? result.get().count) ?? -1) }
        #expect(try await count.wait(for: 1) == [body.count])
        #expect(told.elements == [true, false])
    }

    @Test("of unknown length lets its file in the cache grow by doubling")
    func doubling() async throws {
        let lengths = Collector<Int>()
        let places = BodyPlaces(store: files.bench.cache(), target: FileTarget(files.file()), url: "http://a.example/x")
        let sink = BodySink(places, going: nil, resumable: nil, length: nil) { _ in
            true
        } failed: { _ in
        }
        sink.tap.attach { [files] _ in
            let path = files.bench.directory.appendingPathComponent(files.partials.first ?? "").path
            lengths.append((try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int) ?? 0)
        }
        sink.start()
        for _ in 0..<12 { sink.append(Data(count: 1 << 18)) }
        let grown = try await lengths.wait(for: 12)
        let (first, second, third) = (1 << 20, 5 << 19, 11 << 19)
        #expect(grown == Array(repeating: first, count: 4) + Array(repeating: second, count: 6) + [third, third])
        sink.abandon {}
    }

    @Test("goes to the temporary directory if it has no destination and the cache does not take it")
    func temporary() throws {
        for (destination, folder) in [(nil, FileManager.default.temporaryDirectory), (files.file(), files.folder)] {
            let places = BodyPlaces(store: nil, target: FileTarget(destination), url: "http://a.example/x")
            let file = try places.begin(resumable: nil, length: 1000)
            #expect(file.place.folder == folder.path)
        }
    }
}
