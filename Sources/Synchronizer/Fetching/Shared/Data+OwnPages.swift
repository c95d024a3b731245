import Foundation

extension Data {
    /// Returns zeros in memory pages of their own. A page takes memory when it is first written. All pages are freed when the last
    /// `Data` is released.
    ///
    /// `malloc` would not free the memory reliably. Its allocator keeps freed blocks as long as live memory lies between them. Once
    /// a large block has been freed, it keeps freed blocks up to that size.
    static func inOwnPages(count: Int) -> Data {
        let pages = mmap(nil, count, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0)
        guard let pages, pages != MAP_FAILED else { return Data(count: count) }
        prepare(pages, count: count)
        // The deallocator ignores its second argument, which is smaller than `count` if the data was truncated.
        return Data(bytesNoCopy: pages, count: count, deallocator: .custom { pages, _ in munmap(pages, count) })
    }

    #if canImport(Darwin)
        private static func prepare(_ pages: UnsafeMutableRawPointer, count: Int) {}
    #else
        /// Asks for huge pages. The page fault of the first write to an ordinary page takes longer than filling the page.
        private static func prepare(_ pages: UnsafeMutableRawPointer, count: Int) {
            if count >= 4 << 20 { madvise(pages, count, MADV_HUGEPAGE) }
        }
    #endif
}
