import Foundation

extension Data {
    /// Zeros in memory pages of their own: they take memory when they are written, and return it to the system when the data
    /// is freed.
    ///
    /// The allocator would keep freed memory while longer-lived allocations lie between the pieces. After it has freed one
    /// large piece, it also keeps all later pieces up to that size.
    static func inOwnPages(count: Int) -> Data {
        let pages = mmap(nil, count, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0)
        guard let pages, pages != MAP_FAILED else { return Data(count: count) }
        // The deallocator gets a smaller count if the data was truncated: it uses the original one.
        return Data(bytesNoCopy: pages, count: count, deallocator: .custom { pages, _ in munmap(pages, count) })
    }
}
