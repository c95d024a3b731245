import TestSupport

@testable import Synchronizer

extension Synchronizer {
    func waitUntilIdle() async throws {
        try await waitUntil("all loads are over") { loader.update { $0.machine.isIdle } }
    }
}
