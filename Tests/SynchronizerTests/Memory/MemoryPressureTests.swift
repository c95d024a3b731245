import Foundation
import ScriptedServer
import TestSupport
import TestTraits
import Testing

@testable import Synchronizer

@Suite("When memory is short", .bounded)
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
        MemoryPressure.system.report()
        #expect(synchronizer.memory.totalCost == 30_000)
    }

    #if !canImport(Darwin)
        @Test("the program's own cgroup is watched first, if it is of version 2")
        func files() {
            #expect(
                MemoryPressure.pressureFiles(membership: "1:cpu:/x\n0::/user.slice/app\n")
                    == ["/sys/fs/cgroup/user.slice/app/memory.pressure", "/proc/pressure/memory"])
            #expect(MemoryPressure.pressureFiles(membership: "9:memory:/x\n") == ["/proc/pressure/memory"])
        }

        @Test("the trigger is written to the file, with the zero that the kernel wants; nothing where there is no file")
        func arming() throws {
            let file = FileManager.default.temporaryDirectory.appendingPathComponent("pressure-\(UUID().uuidString)")
            try Data().write(to: file)
            defer { try? FileManager.default.removeItem(at: file) }
            let descriptor = try #require(MemoryPressure.armed(file.path))
            close(descriptor)
            #expect(try Data(contentsOf: file) == Data((MemoryPressure.trigger + "\0").utf8))
            #expect(MemoryPressure.armed(file.path + ".none") == nil)
        }

        /// A socket whose peer sends a byte out of band is as urgent for `poll` as a pressure file whose trigger fires.
        @Test(
            "what watches a file is told each time that it is urgent, until the file is gone", .bounded)
        func watching() async throws {
            let (watched, peer) = try #require(Self.connectedSockets())
            let (told, ended) = (Collector<Bool>(), Collector<Bool>())
            var byte: UInt8 = 0
            MemoryPressure.watch(watched) {
                var byte: UInt8 = 0
                if recv(watched, &byte, 1, Int32(MSG_OOB)) == 1 { told.append(true) }
            } ended: {
                ended.append(true)
            }
            for count in 1...3 {
                #expect(send(peer, &byte, 1, Int32(MSG_OOB)) == 1)
                try await told.wait(for: count)
            }
            shutdown(watched, Int32(SHUT_RDWR))
            close(peer)
            try await ended.wait(for: 1)
        }

        private static func connectedSockets() -> (Int32, Int32)? {
            let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            defer { close(listener) }
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
            var size = socklen_t(MemoryLayout<sockaddr_in>.size)
            let peer = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            let isConnected = withUnsafeMutableBytes(of: &address) { bytes -> Bool in
                guard let address = bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self) else { return false }
                return bind(listener, address, size) == 0 && listen(listener, 1) == 0
                    && getsockname(listener, address, &size) == 0 && connect(peer, address, size) == 0
            }
            return isConnected ? (accept(listener, nil, nil), peer) : nil
        }
    #endif
}
