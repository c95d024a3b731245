import Foundation
import HTTPCaching
import SynchronizerSupport
import TestSupport
import TestTraits
import Testing

@testable import SQLiteCache

@Suite("Bodies that arrive in files", .bounded)
struct PartialTests {
    private let directory = TemporaryDirectory()
    private let url = "https://example.com/x"
    private let capacity = 8 << 20

    private func make(
        _ cache: ResponseCache, _ url: String = "https://example.com/x", length: Int?, isResumable: Bool = false
    ) -> PartialFile? {
        cache.makePartial(for: url, resumable: isResumable ? Sample.stored(url) : nil, length: length)
    }

    private func append(_ count: Int, to file: PartialFile?) throws {
        try Sample.body(count, seed: 1).withUnsafeBytes { try file?.append($0) }
    }

    /// A megabyte whose rest can be requested later. No load is receiving it.
    private func keep(_ cache: ResponseCache, _ url: String, age: TimeInterval) throws -> String {
        var file = make(cache, url, length: 1 << 20, isResumable: true)
        try append(1_000_000, to: file)
        let name = try #require(file?.name)
        file = nil
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSinceNow: -age)],
            ofItemAtPath: directory.generation.partials.path(name))
        return name
    }

    private func fill(_ cache: ResponseCache, _ count: Int, size: Int) throws {
        for number in 0..<count {
            let url = "https://example.com/\(number)"
            let cached = try Sample.cached(url, Sample.body(size, seed: UInt64(number)))
            cache.store(StoredRecord(Sample.stored(url)), cached: cached, keepsObject: false)
        }
        cache.flush()
    }

    @Test("are locked while they arrive: no other load goes on with them or removes them")
    func locked() throws {
        let cache = directory.cache()
        var file = make(cache, length: 3 << 20, isResumable: true)
        for count in [1 << 20, 1 << 20, 1] { try append(count, to: file) }
        let kept = try #require(KeptPartial(in: directory.generation.partials, name: file?.name ?? ""))
        #expect(kept.open() == nil)
        #expect(cache.kept(for: url).isEmpty)
        kept.remove()
        file = nil  // its load fails
        let found = try #require(cache.kept(for: url).first)
        let other = found.open()
        #expect(other?.count == (2 << 20) + 1)
        #expect(found.open() == nil)
        #expect(cache.kept(for: url).isEmpty)
        withExtendedLifetime(other) {}
    }

    @Test("belong to the load that goes on with them, though the one before is still there", arguments: [true, false])
    func goesOn(isDropped: Bool) throws {
        let (cache, whole) = (directory.cache(), Sample.body(3_000_000, seed: 2))
        var first = make(cache, length: whole.count, isResumable: true)
        try whole[..<1_000_000].withUnsafeBytes { try first?.append($0) }
        first?.keep()
        let second = try #require(cache.kept(for: url).first?.open())
        try whole[1_000_000..<2_000_000].withUnsafeBytes { try second.append($0) }
        if isDropped { first?.drop() }
        first = nil
        #expect(cache.kept(for: url).isEmpty)  // the second is writing it
        try whole[2_000_000...].withUnsafeBytes { try second.append($0) }
        #expect(try second.finish().data == whole)
        #expect(FileManager.default.fileExists(atPath: second.path))
    }

    @Test("are opened as their record has them, and by one load")
    func outdated() throws {
        let cache = directory.cache()
        var file = make(cache, length: 3_000_000, isResumable: true)
        try append(1_000_000, to: file)
        file = nil
        let early = try #require(cache.kept(for: url).first)
        file = early.open()
        try append(500_000, to: file)
        file = nil
        #expect(early.open() == nil)
        let kept = try #require(cache.kept(for: url).first)
        #expect(kept.count == 1_500_000)
        file = kept.open()
        #expect(file?.count == 1_500_000)
        // The load that goes on completes the file, and the cache takes it.
        let path = try #require(file?.path)
        #expect(rename(path, path + "-adopted") == 0)
        file?.keep()
        #expect(kept.open() == nil)
    }

    @Test(
        "that are whole can be delivered after another load has opened the file: the delivery is whole or an error",
        arguments: [0, 3])
    func deliveredLate(truncated: Int) throws {
        let (cache, whole) = (directory.cache(), Sample.body(1_500_000, seed: 2))
        let destination = directory.url.appendingPathComponent("delivered")
        let file = try #require(make(cache, length: whole.count, isResumable: true))
        try whole.prefix(1_200_000).withUnsafeBytes { try file.append($0) }
        try whole.dropFirst(1_200_000).withUnsafeBytes { try file.append($0) }
        let body = try file.finish()
        body.keep()
        let next = try #require(cache.kept(for: url).first?.open())
        if truncated > 0 { #expect(truncate(next.path, off_t(whole.count - truncated)) == 0) }
        let delivery = FileDelivery(to: destination)
        if truncated > 0 {
            #expect(throws: FileError.self) { try delivery.put(body) {} }
            #expect(!FileManager.default.fileExists(atPath: destination.path))
        } else {
            try delivery.put(body) {}
            try Data("else".utf8).withUnsafeBytes { try next.append($0) }
            next.keep()
            #expect(try Data(contentsOf: destination) == whole)
        }
    }

    @Test("that are whole, but not known to be, keep a rest to request")
    func wholeWithoutEnd() throws {
        let cache = directory.cache()
        var response = Sample.stored(url)
        response.part = StoredResponse.Part(range: 0..<0, completeLength: 1_500_000)
        var file = cache.makePartial(for: url, resumable: response, length: 1_500_000)
        for count in [1_200_000, 300_000] { try append(count, to: file) }
        file?.keep()
        file = nil
        #expect(cache.kept(for: url).map(\.count) == [1_200_000])
    }

    @Test("are not taken for locked if the system grants no lock")
    func noLocks() {
        #expect(FileLock.takeToLook(-1) == .unavailable && FileLock.takeToWrite(-1) == .unavailable)
    }

    @Test("are kept, and go on, while other processes sweep")
    func sweeps() throws {
        let (place, ends) = (PartialFiles(generation: directory.url.path), Locked(false))
        try FileManager.default.createDirectory(atPath: place.folder, withIntermediateDirectories: true)
        Thread.detachNewThread {
            while !ends.withLock({ $0 }) { place.sweep() }
        }
        defer { ends.withLock { $0 = true } }
        for number in 1...500 {
            let url = "https://example.com/\(number)"
            // Made without a sweep of its own, as by a process that sweeps only when it opens the directory.
            var file: PartialFile? = try PartialFile(in: place, for: url, resumable: Sample.stored(url), length: 10)
            try append(5, to: file)
            file = nil
            let kept = try #require(place.kept(for: url).first, "\(number)")
            #expect(kept.count == 5)
            // A sweep that has no processor holds the file's lock for longer than one attempt takes.
            for _ in 0..<100 where file == nil { file = kept.open() }
            #expect(file != nil, "\(number)")
            file?.drop()
        }
    }

    @Test("together take half of the capacity at most, which the journal is not part of")
    func half() throws {
        let cache = directory.cache(disk: capacity)
        let half = (capacity - capacity / 20) / 2
        #expect(make(cache, length: half + 1) == nil)
        let blocks = half / 8192 * 4096
        var first = make(cache, length: blocks)
        #expect(first != nil)
        #expect(make(cache, length: half - blocks + 1) == nil)
        let second = make(cache, length: half - blocks)
        #expect(second != nil)
        #expect(make(cache, length: 1) == nil)
        #expect(first.map { cache.grow($0, to: blocks + 1) } == false)
        first = nil
        #expect(make(cache, length: blocks - 4096) != nil)
        withExtendedLifetime(second) {}
    }

    @Test("count with their whole length from the start, and the cache makes room before they grow")
    func growing() throws {
        let cache = directory.cache(disk: capacity)
        try fill(cache, 70, size: 100_000)
        let file = try #require(make(cache, length: nil))
        for length in [1 << 20, 2 << 20, 3 << 20] {
            #expect(cache.grow(file, to: length))
            #expect(Int(try #require(FileSystem.status(file.path)).st_size) == length)
            #expect(cache.diskUsage <= DiskBudget(capacity: capacity).content)
            #expect(cache.diskUsage > capacity / 2)
        }
        let evicted = cache.state.withLock { $0.counts.evictions }
        #expect(cache.rows(of: "https://example.com/0").isEmpty)
        #expect(evicted < 70)
    }

    @Test("have a checkpoint for each megabyte")
    func checkpoints() throws {
        let file = make(directory.cache(), length: 4 << 20, isResumable: true)
        let place = try directory.generation.partials
        for (count, checkpoint) in [(1 << 20, nil), (1, 1 << 20), ((1 << 20) - 1, 1 << 20), (1, 2 << 20)] {
            try append(count, to: file)
            #expect(KeptPartial(in: place, name: file?.name ?? "")?.count == checkpoint)
        }
    }

    @Test("have few enough checkpoints for their record, however large they are")
    func manyCheckpoints() {
        var (count, number) = (0, 0)
        while count < 1 << 50 {
            count += PartialFile.checkpointInterval(at: count)
            number += 1
        }
        #expect(24 * number < PartialRecord.largest / 2)
    }

    @Test("go before entries if no load is receiving them, the oldest first")
    func evictionOrder() throws {
        let cache = directory.cache(disk: capacity)
        try fill(cache, 20, size: 100_000)
        let kept = try [100.0, 300, 200].map { try keep(cache, "https://example.com/kept/\($0)", age: $0) }
        let arriving = try #require(make(cache, length: 1 << 20))
        func left() throws -> Set<String> {
            let names = try FileSystem.names(in: directory.generation.partials.folder) ?? []
            return Set(names.filter { !$0.hasSuffix(".record") })
        }
        func evictions() -> Int { cache.state.withLock { $0.counts.evictions } }
        #expect(try left().count == 4)
        let second = try #require(make(cache, length: 5 << 19))
        let names = try #require([arriving.name, second.name] as? [String])
        #expect(try left() == Set(names + [kept[0], kept[2]]))
        #expect(evictions() == 0)
        cache.store(
            StoredRecord(Sample.stored(url)), cached: try Sample.cached(url, Sample.body(3 << 20, seed: 1)),
            keepsObject: false)
        cache.flush()
        #expect(try left() == Set(names))
        #expect((1..<20).contains(evictions()))
        #expect(!cache.rows(of: url).isEmpty)
        withExtendedLifetime((arriving, second)) {}
    }

    @Test("cost no entry when the capacity is lowered so far that it is enough without them")
    func lowering() throws {
        let cache = directory.cache(disk: 16 << 20)
        try fill(cache, 10, size: 100_000)
        for number in 0..<5 { _ = try keep(cache, "https://example.com/kept/\(number)", age: 0) }
        cache.diskCapacity = 3 << 20
        cache.flush()
        #expect(cache.state.withLock { $0.counts.evictions } == 0)
        #expect(try directory.allocatedBytes() <= 3 << 20)
    }

    @Test("are not in a new generation, whether it replaces a corrupt one or a large one", arguments: [false, true])
    func newGeneration(isCorrupt: Bool) throws {
        let cache = directory.cache(disk: 32 << 20)
        try fill(cache, 200, size: 100_000)
        _ = try keep(cache, url, age: 0)
        #expect(cache.kept(for: url).count == 1)
        let generation = try directory.generation
        if isCorrupt {
            cache.close()
            try Data(count: 8192).write(to: URL(fileURLWithPath: generation.database))
            try fill(cache, 1, size: 10)
        } else {
            cache.diskCapacity = 10 << 20  // in which there is room for the body
            cache.flush()
        }
        #expect(try directory.generation.number == generation.number + 1)
        #expect(cache.kept(for: url).isEmpty)
        #expect(try directory.generation.partials.bytes == 0)
    }

    #if !canImport(Darwin)
        @Test(
            "without a strong validator have no name outside of the cache, so that a kill leaves nothing",
            arguments: [false, true])
        func nameless(isBesideDestination: Bool) throws {
            try FileManager.default.createDirectory(at: directory.url, withIntermediateDirectories: true)
            let place = isBesideDestination ? PartialFiles(besides: directory.url.path + "/file") : .temporary
            let file = try PartialFile(in: place, for: url, resumable: nil, length: 1000)
            #expect(file.name == nil)
            var status = stat()
            #expect(fstat(file.descriptor, &status) == 0 && status.st_nlink == 0)
            let path = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(file.descriptor)")
            let folder = isBesideDestination ? directory.url : FileManager.default.temporaryDirectory
            #expect(path.hasPrefix(folder.path + "/"))
            #expect(try FileSystem.names(in: directory.url.path) == [])
            withExtendedLifetime(file) {}
        }
    #endif
}
