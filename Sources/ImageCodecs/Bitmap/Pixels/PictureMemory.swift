#if !canImport(ImageIO)
    import Foundation

    /// Memory of one picture. Large ones have pages of their own, which are huge where the system allows that: touching a
    /// picture of 48 MB for the first time takes 12,000 faults otherwise, a third of the time of its decode.
    enum PictureMemory {
        /// Smaller pictures are left to malloc, which has pages for them that were touched before. From here on it would
        /// have to ask the system, too (`DEFAULT_MMAP_THRESHOLD_MAX` of mallopt(3)).
        private static let mappedSize = 32 << 20

        /// Bytes that are 0 if `cleared`, and else not defined; nil if there is not enough memory.
        static func allocate(_ count: Int, cleared: Bool) -> UnsafeMutableRawPointer? {
            guard count >= mappedSize else { return cleared ? calloc(count, 1) : malloc(count) }
            let memory = mmap(nil, count, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
            guard let memory, memory != MAP_FAILED else { return nil }
            madvise(memory, count, MADV_HUGEPAGE)
            return memory
        }

        /// Gives back what ``allocate(_:cleared:)`` gave for that many bytes.
        static func free(_ memory: UnsafeMutableRawPointer, _ count: Int) {
            if count >= mappedSize { munmap(memory, count) } else { Foundation.free(memory) }
        }
    }
#endif
