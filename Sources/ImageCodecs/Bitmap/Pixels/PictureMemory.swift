import Foundation

/// The memory of one picture. A large picture has pages of its own, huge ones where the system allows it. With ordinary
/// pages, touching a picture of 48 MB for the first time takes 12,000 page faults, a third of its decoding time.
enum PictureMemory {
    /// Smaller pictures use malloc, which reuses pages that were touched before. Above this size malloc would map pages,
    /// too (`DEFAULT_MMAP_THRESHOLD_MAX` of mallopt(3)).
    private static let mappedSize = 32 << 20

    /// Bytes that are 0 if `cleared`, and undefined otherwise; nil if memory runs out.
    static func allocate(_ count: Int, cleared: Bool) -> UnsafeMutableRawPointer? {
        guard count >= mappedSize else { return cleared ? calloc(count, 1) : malloc(count) }
        let memory = mmap(nil, count, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        guard let memory, memory != MAP_FAILED else { return nil }
        madvise(memory, count, MADV_HUGEPAGE)
        return memory
    }

    /// Frees memory from ``allocate(_:cleared:)``, given the same count.
    static func free(_ memory: UnsafeMutableRawPointer, count: Int) {
        if count >= mappedSize { munmap(memory, count) } else { Foundation.free(memory) }
    }
}
