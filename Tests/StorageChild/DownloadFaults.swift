import Foundation
import SQLiteCache
import Synchronizer
import TestSupport

/// Downloads where the disk takes little or nothing.
struct DownloadFaults {
    private static let key = 4  // 3 MB
    private let folder: URL
    private let url: URL
    private let synchronizer: Synchronizer

    init(in directory: URL, port: Int) {
        guard let url = URL(string: "http://127.0.0.1:\(port)/\(Self.key)") else { fail("no URL") }
        self.url = url
        folder = directory.appendingPathComponent("files", isDirectory: true)
        guard mkdir(folder.path, 0o700) == 0 else { fail("mkdir: \(errno)") }
        let cache = SQLiteURLCache(
            memoryCapacity: 0, diskCapacity: 64 << 20, directory: directory.appendingPathComponent("cache"))
        var configuration = Synchronizer.Configuration(urlCache: cache)
        configuration.sessionConfiguration = .ephemeral
        configuration.retry = .none
        synchronizer = Synchronizer(configuration: configuration)
    }

    func run() {
        checkFullDisk()
        checkReadOnlyFolder()
        checkReadOnlyFile()
    }

    /// The disk is full midway: the earlier entries stay, and the download goes on when there is room.
    private func checkFullDisk() {
        let file = folder.appendingPathComponent("full")
        write("old", to: file)
        Shortage.fileSize(1_200_000).during { expect(.noSpace, load(to: file)) }
        guard content(of: file) == Data("old".utf8) else { fail("the old file is gone") }
        guard case .success = load(to: file) else { fail("it does not go on") }
        checkWhole(file)
    }

    /// Now the file is in the cache, so nothing is transferred.
    private func checkReadOnlyFolder() {
        let closed = folder.appendingPathComponent("closed", isDirectory: true)
        guard mkdir(closed.path, 0o500) == 0 else { fail("mkdir: \(errno)") }
        let file = closed.appendingPathComponent("file")
        expect(.notPermitted, load(to: file))
        guard content(of: file) == nil, chmod(closed.path, 0o700) == 0 else { fail("there is a file") }
        guard case .success = load(to: file) else { fail("it can't be written") }
        checkWhole(file)
    }

    private func checkReadOnlyFile() {
        let file = folder.appendingPathComponent("kept")
        write("kept", to: file)
        guard chmod(file.path, 0o400) == 0 else { fail("chmod: \(errno)") }
        expect(.notPermitted, load(to: file))
        guard content(of: file) == Data("kept".utf8) else { fail("a read-only file was replaced") }
    }

    private func load(to file: URL) -> SynchronizerResult<URL> {
        let (done, result) = (DispatchSemaphore(value: 0), Locked<SynchronizerResult<URL>>(.noData))
        synchronizer.loadResource(FileResource(url: url, to: file), on: .global()) { loaded in
            result.withLock { $0 = loaded }
            done.signal()
        }
        done.wait()
        return result.withLock { $0 }
    }

    private func expect(_ reason: FileError.Reason, _ result: SynchronizerResult<URL>) {
        guard case .error(let error) = result, case .file(let failure, _)? = error as? SynchronizerError,
            failure.reason == reason
        else { fail("\(result), not \(reason)") }
        say("\(failure)")
    }

    private func write(_ text: String, to file: URL) {
        do { try Data(text.utf8).write(to: file) } catch { fail("\(error)") }
    }

    private func content(of file: URL) -> Data? { try? Data(contentsOf: file) }

    private func checkWhole(_ file: URL) {
        guard let body = content(of: file), DownloadBodies.version(of: body, key: Self.key) == 0 else {
            fail("\(file.path) has wrong bytes")
        }
    }
}
