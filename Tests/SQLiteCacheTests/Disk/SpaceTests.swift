import Foundation
import HTTPCaching
import SynchronizerSupport
import TestSupport
import TestTraits
import Testing

@testable import SQLiteCache

@Suite("The places of bodies, and the space that they take", .bounded)
struct SpaceTests {
    private let directory = TemporaryDirectory()

    private func url(_ number: Int) -> String { "https://example.com/\(number)" }

    private func fill(_ count: Int, size: Int, capacity: Int) throws {
        let cache = directory.cache(disk: capacity)
        for number in 0..<count {
            let cached = try Sample.cached(url(number), Sample.body(size, seed: UInt64(number)))
            cache.store(StoredRecord(Sample.stored(url(number))), cached: cached, keepsObject: false)
        }
        cache.close()
    }

    private func database() throws -> Database {
        try Database(path: directory.generation.database, busyTimeout: .none)
    }

    private func writeConnection() throws -> WriteConnection {
        try WriteConnection(directory: directory.files, generation: directory.generation, busyTimeout: .none)
    }

    @Test(
        "bodies of up to 1 KB are in their rows, of up to 16 KB in a table and read with their rows, larger ones in files",
        arguments: [1024, 1025, 16 << 10, (16 << 10) + 1])
    func places(size: Int) throws {
        try fill(1, size: size, capacity: 8 << 20)
        let database = try database()
        let inRow = try database.integer("SELECT count(*) FROM entries WHERE length(body) = \(size)")
        let inTable = try database.integer("SELECT count(*) FROM bodies WHERE length(data) = \(size)")
        let files = try FileSystem.names(in: directory.bodies)?.count
        let place = size <= 1 << 10 ? 0 : size <= 16 << 10 ? 1 : 2
        #expect([Int(inRow), Int(inTable), files] == (0..<3).map { $0 == place ? 1 : 0 })
        let entry = try #require(directory.urlCache().entries(for: url(0)).first)
        #expect(entry.body == (place < 2 ? Sample.body(size, seed: 0) : nil))
    }

    @Test("the journal gets a twentieth of the capacity, but 64 KB at least and 4 MB at most")
    func journal() {
        let (least, most) = (64 << 10, 4 << 20)
        let capacities = [0, 20 * least, 20 * (least + 1), 20 << 20, 20 * (most - 1), 20 * most, 20 * (most + 1)]
        let journals = capacities.map { Int(DiskBudget(capacity: $0).journal) }
        #expect(journals == [least, least, least + 1, 1 << 20, most - 1, most, most])
    }

    @Test("evicting incoming bodies does not count what can't be removed")
    func partialThatStays() throws {
        try directory.makeGeneration()
        let partials = try directory.generation.partials
        for path in [partials.folder, partials.path("directory")] { try #require(mkdir(path, 0o700) == 0) }
        try Data(count: 5000).write(to: URL(fileURLWithPath: partials.path("body")))
        #expect(partials.evict(1 << 20) == 8192)
        #expect(try FileSystem.names(in: partials.folder) == ["directory"])
    }

    @Test("user info counts towards the capacity, like a body", arguments: [750_000, 5 << 20])
    func userInfo(size: Int) throws {
        let capacity = 4 << 20
        try fill(20, size: 30_000, capacity: capacity)
        let generation = try directory.generation
        let cache = directory.urlCache(disk: capacity)
        for number in 100..<(size > capacity ? 101 : 106) {
            let userInfo = ["data": Sample.body(size, seed: UInt64(number))]
            cache.storeCachedResponse(
                try Sample.cached(url(number), Data([1]), userInfo: userInfo), for: try Sample.request(url(number)))
            cache.flush()
            #expect(try directory.allocatedBytes() <= capacity / 10 * 11)
        }
        #expect(try directory.generation == generation)
        #expect(cache.entries(for: url(size > capacity ? 100 : 105)).isEmpty == (size > capacity))
        #expect(cache.entries(for: url(19)).isEmpty == (size < capacity))
    }

    @Test("if partial bodies make room, the room is measured again: another process may have taken it")
    func roomThatIsTaken() throws {
        let capacity = 4 << 20
        try fill(1, size: 10, capacity: capacity)
        let (connection, other) = (try writeConnection(), try writeConnection())
        let partials = connection.partials
        try #require(mkdir(partials.folder, 0o700) == 0)
        try Data(count: 3 << 20).write(to: URL(fileURLWithPath: partials.path("body")))
        let evicted = try connection.change(
            needing: DiskNeed(files: 2 << 20), budget: DiskBudget(capacity: capacity),
            marking: {
                try other.transaction {
                    for id in Int64(1)...100 {
                        let row = StoredRow(
                            id: id, url: url(0), urlKey: UInt64(id), revision: id, stored: 1,
                            record: EncodedRecord(StoredRecord(Sample.stored(url(0)))), variant: 1, bodySize: 30_000,
                            body: Data(count: 30_000))
                        try other.apply(.store(row), budget: DiskBudget(capacity: 64 << 20))
                    }
                }
            })
        #expect(evicted > 10)
    }

    @Test("a transaction evicts 256 entries at most")
    func evictions() throws {
        let capacity = 128 << 20
        try fill(600, size: 10, capacity: capacity)
        let connection = try writeConnection()
        // The 257th removal fails, and takes only its own transaction with it.
        try database().execute(
            """
            CREATE TRIGGER stop BEFORE DELETE ON entries WHEN (SELECT count(*) FROM entries) = \(600 - 256)
            BEGIN SELECT raise(abort, 'enough'); END
            """)
        #expect(throws: SQLiteFailure.self) {
            _ = try connection.change(
                needing: DiskNeed(files: Int64(capacity)), budget: DiskBudget(capacity: capacity), marking: {})
        }
        #expect(try database().integer(Schema.countEntries) == 600 - 256)
    }

    @Test(
        "a capacity that is exceeded by a third leads to a new generation, and one that is exceeded by less to evictions"
    )
    func shrinking() throws {
        try fill(100, size: 10_000, capacity: 8 << 20)
        let connection = try writeConnection()
        let content = try connection.transaction { try connection.usage().content }
        let limit = Int(content / 4 * 3)
        let (enough, tooLittle) = (
            DiskBudget(capacity: limit + (64 << 10)), DiskBudget(capacity: limit - 1 + (64 << 10))
        )
        #expect((enough.content, tooLittle.content) == (Int64(limit), Int64(limit) - 1))
        #expect(try connection.shrink(budget: enough) {} == nil)
        #expect(try directory.generation == connection.generation)
        let evicted = try #require(try connection.shrink(budget: tooLittle) {})
        #expect(try directory.generation.number == connection.generation.number + 1)
        #expect(try database().integer(Schema.countEntries) == 100 - evicted)
    }

    @Test(
        "a body file counts as its entry says, even if it is missing, or was made longer through a link",
        arguments: [0, 10 << 20], [false, true])
    func otherLength(_ length: Int, isCounted: Bool) throws {
        let capacity = 8 << 20
        try fill(4, size: 40_000, capacity: capacity)
        let name = try #require(try FileSystem.names(in: directory.bodies)?.first)
        let path = directory.bodies + "/" + name
        try #require(length == 0 ? unlink(path) == 0 : truncate(path, off_t(length)) == 0)
        if isCounted { try database().execute("UPDATE usage SET files = -1") }
        let connection = try writeConnection()
        let budget = DiskBudget(capacity: capacity)
        #expect(try connection.change(needing: DiskNeed(), budget: budget, marking: {}) == 0)
        #expect(try database().integer(Schema.fileBytes) == 4 * 40_960)
        let id = try #require(Int64(name))
        _ = try connection.transaction { try connection.remove(id) }
        #expect(try database().integer(Schema.fileBytes) == 3 * 40_960)
        #expect(FileSystem.status(path) == nil)
    }

    @Test("the files are counted after a corrupt entry was removed, whose length says nothing")
    func corruptLength() throws {
        try fill(4, size: 40_000, capacity: 8 << 20)
        let id = try #require(try FileSystem.names(in: directory.bodies)?.first.flatMap { Int64($0) })
        try database().execute("UPDATE entries SET length = 1 << 30 WHERE id = \(id)")
        let connection = try writeConnection()
        _ = try connection.transaction { try connection.remove(id) }
        #expect(try database().integer(Schema.fileBytes) == -1)
        #expect(try connection.transaction { try connection.usage().files } == 3 * 40_960)
    }

    @Test("the file of the leases counts like the others")
    func leases() throws {
        let cache = directory.cache()
        cache.store(
            StoredRecord(Sample.stored("https://x/")), cached: try Sample.cached("https://x/", Data()),
            keepsObject: false)
        cache.flush()
        let connection = try WriteConnection(
            directory: directory.files, generation: directory.generation, busyTimeout: .none)
        let (before, counted) = (cache.diskUsage, try connection.usage().files)
        try Data(repeating: 1, count: 100_000).write(to: directory.url.appendingPathComponent("Leases"))
        #expect(cache.diskUsage >= before + 100_000)
        #expect(try connection.usage().files >= counted + 100_000)
        try Data(repeating: 1, count: 2_000_000).write(to: directory.url.appendingPathComponent("Leases"))
        #expect(cache.diskUsage < before + 500_000)
        #expect(try connection.usage().files < counted + 500_000)
        #expect(LeaseFile(directory: directory.files).grant(1, at: 1, for: 1000) != .unavailable)
        #expect(FileSystem.status(directory.files.leases)?.st_size ?? 0 < 500_000)
    }
}
