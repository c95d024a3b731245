import Foundation
import TestSupport
import TestTraits
import Testing

@testable import Synchronizer

@Suite("Transfers of files", .bounded)
struct FileTransferTests {
    @Test("a transfer that is cancelled while it is paused lets go of its file and its thread")
    func cancelledWhilePaused() async throws {
        let files = try FileBench()
        try Data(count: 1 << 20).write(to: files.file())
        let begins = Collector<Void>()
        weak var transfer: FileTransfer?
        do {
            let current = Locked<FileTransfer?>(nil)
            let made = current.withLock { known in
                let made = FileTransfer(files.file()) { event in
                    // The test holds the lock until it has the transfer.
                    guard case .response = event else { return }
                    current.withLock { $0 }?.setPaused(true)
                    begins.append(())
                }
                known = made
                return made
            }
            transfer = made
            try await begins.wait(for: 1)
            current.withLock { $0 = nil }
            made.cancel()
        }
        try await waitUntil("it has ended") { transfer == nil }
    }

    @Test(
        "a transfer that can't read its file says why",
        arguments: [
            (false, URLError.Code.fileDoesNotExist, "the file does not exist"),
            (true, .fileIsDirectory, "the URL is that of a directory"),
        ])
    func unreadable(isDirectory: Bool, code: URLError.Code, reason: String) async throws {
        let directory = DisposableDirectory("files")
        if isDirectory {
            try FileManager.default.createDirectory(at: directory.url, withIntermediateDirectories: true)
        }
        let ends = Collector<(any Error)?>()
        let transfer = FileTransfer(directory.url) { if case .finished(let error) = $0 { ends.append(error) } }
        let error = try await ends.wait(for: 1).first as? URLError
        #expect(error?.code == code)
        #expect(error?.localizedDescription == reason)
        withExtendedLifetime(transfer) {}
    }
}
