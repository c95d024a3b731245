#if !(os(Linux) || os(Android))
    /// Nothing is counted here: who wants to know of changes looks at the files.
    struct FileEvents {
        static let shared = FileEvents()
        let count: UInt64 = 0
    }
#endif
