#if !(os(macOS) || os(Linux))
    import TestSupport
    import Testing

    /// Only macOS and Linux let a program start another one; on Apple's other systems the tests that need it are disabled.
    final class ChildProcess {
        static let isAvailable = false
        let status: Int32 = -1

        private struct Unavailable: Error {}

        init(_ mode: String, _ directory: TemporaryDirectory, _ numbers: [Int] = [], shell: String? = nil) throws {
            throw Unavailable()
        }

        init(program: String, _ arguments: [String]) throws { throw Unavailable() }

        static func run(_ path: String, _ arguments: [String]) throws { throw Unavailable() }

        func line() -> String? { nil }
        func rest() -> [String] { [] }
        func kill() {}
        func expectSuccess(_ location: SourceLocation = #_sourceLocation) {}
    }
#endif
