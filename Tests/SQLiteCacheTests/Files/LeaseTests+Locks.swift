import Foundation
import Testing

@testable import SQLiteCache

extension LeaseTests {
    @Test("a late holder does not free the lock of a newer lease of its process, although both use the same byte")
    func sharedByte() throws {
        let file = file()
        let grants = try (0...8).map { try grant(in: file, at: 1_000_000 + $0 * 6000) }
        #expect(grants[8].token == grants[0].token + 8)
        for late in grants.dropLast() { file.release(late, at: 1_048_001) }
        #expect(self.file().grant(7, at: 1_048_001, for: 5000) == .held)
        file.abandon(grants[8])
        #expect(!file.look(at: 7, now: 1_048_002).isHeld)
    }
}
