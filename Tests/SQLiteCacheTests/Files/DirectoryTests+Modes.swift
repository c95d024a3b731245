import Foundation
import SynchronizerSupport
import TestSupport
import TestTraits
import Testing

@testable import SQLiteCache

extension DirectoryTests {
    @Test("files of ours with other modes get theirs back with the next store, and cost no entry")
    func changedModes() throws {
        let directory = TemporaryDirectory()
        let cache = directory.cache()
        let large = Sample.body(100_000, seed: 1)
        try store(cache, large)
        func useOtherFiles() {
            #expect(cache.makePartial(for: url, resumable: nil, length: 100) != nil)
            #expect(LeaseFile(directory: directory.files).grant(1, at: 1, for: 1000) != .unavailable)
        }
        useOtherFiles()
        let generation = try directory.generation
        let (bodies, partials) = (generation.bodies, generation.partials)
        for path in [
            generation.path, generation.database, bodies.settled, bodies.moving, partials.folder,
            directory.files.leases,
        ] {
            let usual = try mode(path)
            for mode: mode_t in [0, 0o400, 0o555, 0o777] {
                cache.close()
                try #require(chmod(path, mode) == 0)
                cache.change(.removeURL("https://example.com/y", urlKey: 7))
                cache.flush()
                useOtherFiles()
                #expect(try self.mode(path) == usual, "\(path), \(mode)")
                #expect(body(cache) == large)
            }
        }
        #expect(try directory.generation == generation)
    }

    @Test("directories that their user can't read are deleted like others, by a removal of everything")
    func deletion() throws {
        let directory = TemporaryDirectory()
        let cache = directory.cache()
        try store(cache, Sample.body(100_000, seed: 1))
        cache.flush()
        let generation = try directory.generation
        let foreign = directory.url.appendingPathComponent("foreign").path
        try #require(mkdir(foreign, 0o500) == 0 && symlink(foreign, generation.bodies.settledPath(7)) == 0)
        try #require(chmod(generation.bodies.settled, 0) == 0)
        cache.change(.removeAll)
        cache.flush()
        directory.waitForRemovals()
        #expect(FileSystem.status(generation.path) == nil)
        #expect(try FileSystem.names(in: directory.url.path)?.contains { $0.hasPrefix("Old-") } == false)
        #expect(try mode(foreign) == 0o500)
    }

    @Test(
        "a user whose files have modes that forbid everything can use the cache again with the next store",
        .enabled(if: ChildProcess.isAvailable))
    func forbiddenFiles() throws {
        let directory = TemporaryDirectory()
        try FileManager.default.createDirectory(
            at: directory.url, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o777])
        try ChildProcess("modes", directory).expectSuccess()
    }
}
