import Foundation
import SQLiteCache
import TestSupport

// A process that the storage tests start, to kill it, to share a directory with it, or to take something away from it.

/// Says something to the parent at once.
func say(_ line: String) {
    FileHandle.standardOutput.write(Data((line + "\n").utf8))
}

func fail(_ line: String) -> Never {
    say("wrong: " + line)
    exit(1)
}

let arguments = CommandLine.arguments
guard arguments.count >= 3 else { fail("usage: StorageChild MODE DIRECTORY [NUMBER…]") }
let directory = URL(fileURLWithPath: arguments[2], isDirectory: true)
let numbers = arguments.dropFirst(3).compactMap { Int($0) }

/// Root may do everything, so tests of permissions run as another user.
func becomeNobody() {
    guard geteuid() == 0 else { return }
    // Foundation looks for the program once, and traps if this user may not read its directory, as below /root.
    _ = Bundle.main
    guard setgid(65_534) == 0, setuid(65_534) == 0 else { fail("setuid: \(errno)") }
}

func cache(memory: Int, disk: Int) -> SQLiteURLCache {
    SQLiteURLCache(memoryCapacity: memory, diskCapacity: disk, directory: directory)
}

ParentProcess.endWithIt()
switch arguments[1] {
case "churn":  // SEED CAPACITY: until killed
    guard numbers.count == 2 else { fail("SEED CAPACITY") }
    StorageChurn(seed: UInt64(numbers[0])).run(on: cache(memory: 0, disk: numbers[1])) { say("\($0)") }

case "download":  // SEED CAPACITY PORT STEPS FOLDER: until killed, or to the end
    guard numbers.count == 4, arguments.count == 8 else { fail("SEED CAPACITY PORT STEPS FOLDER") }
    let downloads = Downloads(
        cache: cache(memory: 0, disk: numbers[1]), folder: URL(fileURLWithPath: arguments[7], isDirectory: true),
        port: numbers[2], seed: numbers[0])
    await downloads.run(steps: numbers[3])

case "download-faults":  // PORT: in a directory of its own
    guard numbers.count == 1 else { fail("PORT") }
    becomeNobody()
    DownloadFaults(in: directory, port: numbers[0]).run()

case "share":  // SEED STEPS MEMORY: among others
    guard numbers.count == 3 else { fail("SEED STEPS MEMORY") }
    SharingProcess(seed: numbers[0], cache: cache(memory: numbers[2], disk: 256 << 20)).run(steps: numbers[1])

#if Valkey && canImport(CHiredis)
    case "shared-lease":  // MILLISECONDS: until killed
        guard numbers.count == 1 else { fail("MILLISECONDS") }
        // On the main thread no call waits for the server.
        onThreads(1) { _ in
            do { try holdSharedLease(milliseconds: numbers[0], in: directory) } catch { fail("\(error)") }
        }.wait()

    case "shared-model":  // SEED STEPS MEMORY: among others, with the server on a socket in the directory
        guard numbers.count == 3 else { fail("SEED STEPS MEMORY") }
        // On the main thread no call waits for the server.
        onThreads(1) { _ in
            do {
                try SharedModel.run(seed: UInt64(numbers[0]), steps: numbers[1], memory: numbers[2], in: directory)
            } catch {
                fail("\(error)")
            }
        }.wait()
#endif

case "model":  // SEED STEPS MEMORY: among others
    guard numbers.count == 3 else { fail("SEED STEPS MEMORY") }
    let shared = cache(memory: numbers[2], disk: 256 << 20)
    var run = ModelRun(
        seed: UInt64(numbers[0]), memory: numbers[2], disk: 256 << 20, in: directory, sharing: shared)
    do { try run.run(steps: numbers[1]) } catch { fail("\(error)") }
    if shared.statistics.corruptEntriesDropped > 0 { fail("\(shared.statistics)") }

case "exit":  // without a flush
    guard let request = StorageChurn.request(1) else { fail("no URL") }
    let stored = cache(memory: 0, disk: 8 << 20)
    stored.storeCachedResponse(
        CachedURLResponse(
            response: StorageChurn.fileResponse, data: StorageChurn.body(seed: 1, step: 1, key: 1, size: 900)),
        for: request)

case "serve":  // SEED CAPACITY MEMORY: what it is told
    guard numbers.count == 3 else { fail("SEED CAPACITY MEMORY") }
    Service(cache(memory: numbers[2], disk: numbers[1]), seed: numbers[0]).run()

case "nested":  // in a directory whose parent is not there, either
    let nested = SQLiteURLCache(
        memoryCapacity: 0, diskCapacity: 8 << 20, directory: directory.appendingPathComponent("above/cache"))
    checkMemoryStillWorks(nested)

case "forks": Service(cache(memory: 1 << 20, disk: 64 << 20), seed: 1).checkForks()
case "short-lookups": Service(cache(memory: 0, disk: 512 << 20), seed: 1).checkShortages()

case "memory":  // where the disk takes little or nothing
    checkMemoryStillWorks(cache(memory: 8 << 20, disk: 64 << 20))

case "stranger":  // as a user who owns nothing
    becomeNobody()
    checkMemoryStillWorks(cache(memory: 8 << 20, disk: 64 << 20))

case "no-permission":  // in a directory of its own, in which it may not write
    becomeNobody()
    let own = directory.appendingPathComponent("cache", isDirectory: true)
    guard mkdir(own.path, 0o500) == 0 else { fail("mkdir: \(errno)") }
    checkMemoryStillWorks(SQLiteURLCache(memoryCapacity: 8 << 20, diskCapacity: 64 << 20, directory: own))

case "full": FullDisk(directory).checkStores(.fileSize(0))
case "no-descriptors": FullDisk(directory).checkStores(.descriptors)
case "full-removal": FullDisk(directory).checkRemoval()
case "full-objects": FullDisk(directory).checkObjects()
case "full-here": FullDisk(directory).checkOwnThread()
case "full-bodies": FullDisk(directory).checkLargeBodies()

case "read-only":  // in a directory of its own, in which it may write at times
    becomeNobody()
    checkRemovalsHold(in: directory.appendingPathComponent("cache"))

case "modes":  // in a directory of its own, whose files it may not use for a while
    becomeNobody()
    checkForbiddenFiles(in: directory.appendingPathComponent("cache"))

case "no-journal":  // in a directory of its own, in which no files can be made for a while
    becomeNobody()
    checkRemovalsWithoutJournal(in: directory.appendingPathComponent("cache"))

case "lease": holdLease(of: cache(memory: 0, disk: 64 << 20))
case "lease-full": checkLeases(of: cache(memory: 0, disk: 64 << 20), without: .fileSize(0))
case "lease-descriptors": checkLeases(of: cache(memory: 0, disk: 64 << 20), without: .descriptors)

case "load":  // PORT: one resource, among others
    guard numbers.count == 1 else { fail("PORT") }
    await load("http://127.0.0.1:\(numbers[0])/a", with: cache(memory: 1 << 20, disk: 64 << 20))

default: fail("mode \(arguments[1])")
}
say("done")
