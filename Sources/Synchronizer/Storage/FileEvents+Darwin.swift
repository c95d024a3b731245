#if !(os(Linux) || os(Android))
    // Who wants to know looks at the files.
    extension FileEvents {
        static func open() -> Int32? { nil }
        static func watch(_ file: Int32, _ descriptor: Int32) -> Bool { false }
        static func isSomethingThere(_ descriptor: Int32) -> Bool { false }
        static func drain(_ descriptor: Int32) {}
    }
#endif
