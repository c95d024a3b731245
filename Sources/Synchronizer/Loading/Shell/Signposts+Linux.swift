#if !canImport(os)
    /// There are signposts on Apple's systems only.
    enum Signposts {
        static func observer(before next: (any SynchronizerObserver)?) -> (any SynchronizerObserver)? { next }
    }
#endif
