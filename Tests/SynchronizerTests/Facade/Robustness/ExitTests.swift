#if os(Linux)
    import Foundation
    import ScriptedServer
    import TestSupport
    import TestTraits
    import Testing

    @testable import Synchronizer

    @Suite("A process that ends", .bounded)
    struct ExitTests {
        /// At the end of a process, OpenSSL frees what connections use, unless it is told not to.
        @Test("while it makes connections over TLS does not crash")
        func duringHandshakes() async throws {
            let bench = try Workbench()
            for number in 0..<8 { bench.server["/body/\(number)"] = Reply(Data(count: 20_000)).closing() }
            let relay = try TLSRelay(to: bench.server.port)
            for _ in 0..<20 {
                let (lines, status) = try await HostileProcess.result(["exit", relay.url("/body").absoluteString])
                #expect(lines == ["done"] && status == 0, "\(status): \(lines)")
            }
        }
    }
#endif
