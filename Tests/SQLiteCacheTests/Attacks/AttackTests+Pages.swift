import Foundation
import SynchronizerSupport
import Testing

@testable import SQLiteCache

extension AttackTests {
    @Test("a page number beyond SQLite's limit is corruption, not a full disk: the database is replaced at once")
    func pageNumbers() throws {
        let cache = directory.cache()
        for number in 0..<100 { try store(cache, number, size: number % 4 == 0 ? 4600 : 1100) }
        cache.flush()
        cache.close()
        let generation = try directory.generation
        #expect(try corruptOverflowPages(generation.database) >= 25)
        // A page with one cell left is merged with its neighbour, and SQLite notes the new parent of the overflow page.
        for number in 0..<100 where number % 4 > 0 {
            cache.change(.removeURL(url(number), urlKey: Checksum64.of(url(number))))
        }
        try store(cache, 100)
        cache.flush()
        #expect(found(cache, 100) == body(100, 3000))
        #expect(try directory.generation.number == generation.number + 1)
    }

    /// Sets the numbers of the first overflow pages of all cells to one that no database has; returns how many there are.
    /// (sqlite.org/fileformat2.html#b_tree_pages)
    private func corruptOverflowPages(_ path: String) throws -> Int {
        var data = try Data(contentsOf: URL(fileURLWithPath: path))
        func number(_ place: Int, _ count: Int) -> Int { data[place..<place + count].reduce(0) { $0 << 8 | Int($1) } }
        let pageSize = 4096
        var found = 0
        for page in stride(from: pageSize, to: data.count, by: pageSize) where data[page] == 0x0D {
            let cells = (0..<number(page + 3, 2)).map { number(page + 8 + 2 * $0, 2) }
            // Cells are stored without gaps from the end of the page, and the number is the end of each.
            for end in cells.sorted().dropFirst() + [pageSize] {
                let place = page + end - 4
                guard (2...data.count / pageSize).contains(number(place, 4)) else { continue }
                data[place] = 0x7F
                found += 1
            }
        }
        try data.write(to: URL(fileURLWithPath: path))
        return found
    }
}
