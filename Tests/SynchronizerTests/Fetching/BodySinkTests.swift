import Foundation
import HTTPCaching
import TestSupport
import TestTraits
import Testing

@testable import SQLiteCache
@testable import Synchronizer

@Suite("A body on its way to a file", .bounded)
struct BodySinkTests {
    let files: FileBench
    /// The calls that the transfer has received: true to pause, false to go on.
    let told = Collector<Bool>()

    init() throws {
        files = try FileBench()
    }

    private func sink(isKnown: @escaping @Sendable () -> Bool = { true }) -> BodySink {
        let places = BodyPlaces(store: nil, target: FileTarget(files.file()), cacheKey: "http://a.example/x")
        return BodySink(places, continuing: nil, resumable: nil, length: nil) { [told] isPaused in
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

    @Test("of a cancelled load holds up lookups of its own URL only")
    func abandoned() async throws {
        let (sink, disk, bodies) = (sink(), DispatchSemaphore(value: 0), AbandonedBodies())
        let writing = Collector<Int>()
        sink.tap.attach { piece in
            writing.append(piece.count)
            disk.wait()
        }
        sink.start()
        sink.append(Data(count: 10))
        // A sink that is abandoned before its file is open writes nothing.
        try await writing.wait(for: 1)
        bodies.keep(sink)
        bodies.wait(for: "http://a.example/other")
        let (waited, url) = (Collector<Bool>(), sink.cacheKey)
        DispatchQueue.global().async {
            bodies.wait(for: url)
            waited.append(true)
        }
        #expect(waited.elements.isEmpty)
        disk.signal()
        try await waited.wait(for: 1)
        bodies.wait(for: url)
    }

    @Test("makes no file once it is abandoned")
    func abandonedBeforeItStarts() async throws {
        let places = BodyPlaces(
            store: files.bench.cache(), target: FileTarget(files.file()), cacheKey: "http://a.example/x")
        let sink = BodySink(places, continuing: nil, resumable: nil, length: nil) { _ in
            true
        } failed: { _ in
        }
        sink.abandon {}
        sink.start()
        let ends = Collector<Bool>()
        sink.end { result in ends.append((try? result.get()) == nil) }
        #expect(try await ends.wait(for: 1) == [true])
    }

    @Test("of unknown length lets its file in the cache grow by doubling")
    func doubling() async throws {
        let lengths = Collector<Int>()
        let places = BodyPlaces(
            store: files.bench.cache(), target: FileTarget(files.file()), cacheKey: "http://a.example/x")
        let sink = BodySink(places, continuing: nil, resumable: nil, length: nil) { _ in
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

    /// Which disk has too little space.
    private enum Disk: CaseIterable {
        case none, arrival, destination
    }

    /// How a body of ten bytes ends if disks have space for fewer.
    private func failure(_ full: Disk, isCoalesced: Bool = false, isSameDisk: Bool = false) async throws -> FileError? {
        let cache = files.bench.cache()
        var places = BodyPlaces(store: cache, target: FileTarget(files.file()), cacheKey: "http://a.example/x")
        places.volume = { [folder = files.folder.path] path in
            let isDestination = path == folder
            return Volume(
                id: isDestination && !isSameDisk ? 2 : 1, freeBytes: (full == .destination) == isDestination ? 9 : 10)
        }
        if full == .none { places.volume = { _ in Volume(id: 1, freeBytes: 10) } }
        let sink = BodySink(places, continuing: nil, resumable: nil, length: 10) { _ in
            true
        } failed: { _ in
        }
        sink.tap.askWhetherCoalesced { isCoalesced }
        sink.start()
        let ends = Collector<FileError?>()
        sink.end { result in
            if case .failure(let error) = result { ends.append(error as? FileError) } else { ends.append(nil) }
        }
        return try await ends.wait(for: 1)[0]
    }

    @Test("is not requested in vain if the disk on which it arrives, or that of its destination, has no space")
    func noSpace() async throws {
        #expect(try await failure(.none) == nil)
        #expect(try await failure(.arrival)?.reason == .noSpace)
        let error = try await failure(.destination)
        #expect(error == FileError(.noSpace, at: files.file().path))
        // On one disk, the destination becomes a link. Other loads have other destinations.
        #expect(try await failure(.destination, isSameDisk: true) == nil)
        #expect(try await failure(.destination, isCoalesced: true) == nil)
    }

    @Test("goes on beside its destination only if there is space for the rest", arguments: [(9, false), (10, true)])
    func noSpaceForTheRest(free: Int, isEnough: Bool) async throws {
        var places = BodyPlaces(store: nil, target: FileTarget(files.file()), cacheKey: "http://a.example/x")
        let response = StoredResponse(
            url: places.cacheKey, method: "GET", selectingFields: HTTPFields([]), status: 206,
            fields: HTTPFields([("ETag", "\"1\"")]), requestTime: Date(), responseTime: Date(),
            part: .init(range: 0..<0, completeLength: 15))
        let beginning = try places.begin(resumable: response, length: 15, isCoalesced: false)
        try Data(count: 5).withUnsafeBytes { try beginning.append($0) }
        beginning.keep()
        places.volume = { _ in Volume(id: 1, freeBytes: free) }
        let kept = try #require(places.kept().first)
        let sink = BodySink(places, continuing: kept, resumable: kept.response, length: 15) { _ in
            true
        } failed: { _ in
        }
        sink.start()
        let ends = Collector<Bool>()
        sink.end { result in
            let file = try? result.get()
            file?.keep()
            ends.append(file != nil)
        }
        #expect(try await ends.wait(for: 1) == [isEnough])
        #expect(places.kept().map(\.count) == [5])  // nothing is lost
    }

    @Test("goes to the temporary directory if it has no destination and the cache does not take it")
    func temporary() throws {
        for (destination, folder) in [(nil, FileManager.default.temporaryDirectory), (files.file(), files.folder)] {
            let places = BodyPlaces(store: nil, target: FileTarget(destination), cacheKey: "http://a.example/x")
            let file = try places.begin(resumable: nil, length: 1000, isCoalesced: false)
            #expect(file.place.folder == folder.path)
        }
    }
}
