#if !canImport(Darwin)
    import Foundation
    import Glibc
    import ScriptedServer
    import Synchronizer
    import TestSupport
    import TestTraits
    import Testing

    @Suite("Parses that give way", .bounded)
    struct ParsePriorityTests {
        /// Parses to the niceness of the thread that it is parsed on.
        private struct Niceness: Resource {
            let url: URL
            func request() -> URLRequest { URLRequest(url: url) }
            var parse: @Sendable (Data) throws -> Int32 {
                { _ in getpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0) }
            }
        }

        /// Dispatch's workers for `.userInitiated` are less nice than the program if they may be, as root's are.
        @Test("a parse has no greater claim to a core than the thread that draws")
        func priority() async throws {
            let bench = try Workbench()
            bench.server["/a"] = Reply("a")
            let program = getpriority(__priority_which_t(PRIO_PROCESS.rawValue), id_t(getpid()))
            #expect(try await bench.synchronizer().load(Niceness(url: bench.server.url("/a"))) >= program)
        }
    }
#endif
