#if Valkey && canImport(CHiredis)
    import Foundation
    import SQLiteCache
    import TestSupport
    import ValkeyCache

    extension ValkeyURLCache: ModelledCache {}

    /// Takes a lease of a server whose socket is in the directory, and holds it until it is killed.
    func holdSharedLease(milliseconds: Int, in directory: URL) throws {
        var options = ValkeyURLCache.Options()
        options.longestWait = 60
        let cache = try ValkeyURLCache(
            server: "unix://\(directory.path)/socket", namespace: "test", options: options)
        guard case .granted = cache.lease("key", for: Double(milliseconds) / 1000) else { fail("no lease") }
        say("granted")
        while true { pause() }
    }

    /// The model test of one process among others that share a server.
    enum SharedModel {
        static func run(seed: UInt64, steps: Int, memory: Int, in directory: URL) throws {
            var options = ValkeyURLCache.Options()
            options.longestWait = 60
            let clock = ManualClock()
            let folder = directory.appendingPathComponent("\(seed)", isDirectory: true)
            let local = SQLiteURLCache(memoryCapacity: memory, diskCapacity: 256 << 20, directory: folder, time: clock)
            let cache = try ValkeyURLCache(
                server: "unix://\(directory.path)/socket", namespace: "model", local: local, options: options,
                time: WholeMilliseconds(clock))
            while !cache.statistics.isConnected { sched_yield() }
            var run = ModelRun(
                seed: seed, memory: memory, disk: 256 << 20, in: folder, sharing: cache, clock: clock)
            try run.checkAll()  // as loads do: after a lookup the cache knows what may be stored
            try run.run(steps: steps)
        }
    }
#endif
