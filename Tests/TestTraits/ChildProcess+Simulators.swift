#if !(os(macOS) || os(Linux))
    import Foundation
    import Testing

    /// Only macOS and Linux let a program start another one; on Apple's other systems the tests that need it are disabled.
    package final class ChildProcess {
        package static let isAvailable = false
        package let status: Int32 = -1

        private struct Unavailable: Error {}

        package init(_ mode: String, directory: URL, _ numbers: [Int] = [], shell: String? = nil) throws {
            throw Unavailable()
        }

        package init(program: String, _ arguments: [String], shell: String? = nil) throws { throw Unavailable() }

        package static func run(_ path: String, _ arguments: [String]) throws { throw Unavailable() }

        package func line() -> String? { nil }
        package func rest() -> [String] { [] }
        package func kill() {}
        package func expectSuccess(_ location: SourceLocation = #_sourceLocation) {}
    }
#endif
