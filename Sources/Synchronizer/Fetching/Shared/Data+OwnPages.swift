import Foundation

extension Data {
    /// Zeros in pages of their own, which take memory when they are written to, and give it back when nobody holds the
    /// bytes any more.
    ///
    /// What the allocator is given back it keeps, in pieces, as long as something that stays lies between them; and once
    /// it has been given back something large, it keeps whatever is not larger than that.
    static func inOwnPages(count: Int) -> Data {
        let pages = mmap(nil, count, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0)
        guard let pages, pages != MAP_FAILED else { return Data(count: count) }
        prepare(pages, count: count)
        // The count that a deallocator is told is smaller where the bytes were cut off.
        return Data(bytesNoCopy: pages, count: count, deallocator: .custom { pages, _ in munmap(pages, count) })
    }

    #if canImport(Darwin)
        private static func prepare(_ pages: UnsafeMutableRawPointer, count: Int) {}
    #else
        /// The first write to a page takes longer than filling it, unless the page is a large one.
        private static func prepare(_ pages: UnsafeMutableRawPointer, count: Int) {
            if count >= 4 << 20 { madvise(pages, count, MADV_HUGEPAGE) }
        }
    #endif
}
