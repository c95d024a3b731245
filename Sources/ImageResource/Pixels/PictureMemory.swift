#if !canImport(ImageIO)
    import Foundation

    /// Memory of one picture. Large ones have pages of their own, which go back to the system at once, and are huge where
    /// it allows that: touching a picture of 48 MB for the first time takes 12,000 faults otherwise, and longer than
    /// some take to decode.
    enum PictureMemory {
        /// Smaller pictures are left to malloc, whose bounds the sanitizers know.
        private static let mappedSize = 4 << 20

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
