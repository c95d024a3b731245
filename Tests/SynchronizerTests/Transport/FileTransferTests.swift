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
}
