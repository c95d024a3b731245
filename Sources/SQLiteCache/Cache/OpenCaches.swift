import Foundation
import SynchronizerSupport

/// The caches of this process that use the disk, one for each directory.
enum OpenCaches {
    private struct Reference {
        weak var cache: ResponseCache?
    }

    private static let known = Locked<[String: Reference]>([:])
    /// Flushes when the program exits normally. Otherwise a program that loads something, prints it and exits would lose what
    /// it has just stored.
    private static let flushesAtExit: Void = {
        atexit { OpenCaches.flushAll() }
    }()

    /// The cache of a directory: the one in use, which gets these capacities, or a new one.
    static func cache(
        memoryCapacity: Int, diskCapacity: Int, directory: URL, time: any TimeSource,
        report: @escaping @Sendable (String) -> Void
    ) -> ResponseCache {
        func make() -> ResponseCache {
            ResponseCache(
                memoryCapacity: memoryCapacity, diskCapacity: diskCapacity, directory: directory, time: time,
                report: report)
        }
        _ = ForkedProcess.isWatched
        // A cache without a disk capacity must not set the shared capacity to 0, which would empty the directory.
        if diskCapacity <= 0 || ForkedProcess.isCurrent { return make() }
        _ = flushesAtExit
        let path = CacheDirectory(directory).path
        let (cache, isNew) = known.withLock { known in
            if let cache = known[path]?.cache { return (cache, false) }
            let cache = make()
            known = known.filter { $0.value.cache != nil }
            known[path] = Reference(cache: cache)
            return (cache, true)
        }
        if !isNew {
            cache.state.withLock { $0.memory.capacity = max(0, memoryCapacity) }
            if cache.diskCapacity != diskCapacity { cache.diskCapacity = diskCapacity }
        }
        return cache
    }

    private static func flushAll() {
        guard !ForkedProcess.isCurrent else { return }
        flushAtExit(known.withLock { $0.values.compactMap(\.cache) })
    }

    /// Flushes caches at the end of the process. The process waits at most two seconds for all of them together.
    static func flushAtExit(_ caches: [ResponseCache], within seconds: TimeInterval = 2) {
        let done = DispatchSemaphore(value: 0)
        for cache in caches { cache.writer.flush(from: cache, isLast: true) { done.signal() } }
        let deadline = DispatchTime.now() + seconds
        for _ in caches { _ = done.wait(timeout: deadline) }
    }
}
