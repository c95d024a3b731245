import Foundation
import ScriptedServer
import TestSupport
import Testing

@testable import Synchronizer

@Suite("When memory is short")
struct MemoryPressureTests {
    @Test("listeners are told, until they stop listening")
    func listening() {
        let pressure = MemoryPressure()
        let count = Locked(0)
        let stop = pressure.listen { count.withLock { $0 += 1 } }
        pressure.report()
        stop()
        pressure.report()
        #expect(count.withLock { $0 } == 1)
    }

    @Test("a synchronizer goes down to its preferred level")
    func purging() async throws {
        let bench = try Workbench()
        bench.server.handle("/a") { _ in
            Reply(Data(repeating: 1, count: 10_000), fields: ["Cache-Control": "max-age=100"])
        }
        let synchronizer = bench.synchronizer { configuration in
            configuration.memoryCapacity = 100_000
            configuration.preferredMemoryUsage = 30_000
        }
        for number in 0..<8 {
            _ = try await synchronizer.load(DataResource(url: bench.server.url("/a?\(number)")))
        }
        #expect(synchronizer.memory.totalCost == 80_000)
        MemoryPressure.system.report()
        #expect(synchronizer.memory.totalCost == 30_000)
    }

    #if canImport(Glibc)
        @Test("the kernel is asked in the program's own cgroup first, if that is one of version 2")
        func files() {
            #expect(
                MemoryPressure.pressureFiles(membership: "1:cpu:/x\n0::/user.slice/app\n")
                    == ["/sys/fs/cgroup/user.slice/app/memory.pressure", "/proc/pressure/memory"])
            #expect(MemoryPressure.pressureFiles(membership: "9:memory:/x\n") == ["/proc/pressure/memory"])
        }
    #endif
}
