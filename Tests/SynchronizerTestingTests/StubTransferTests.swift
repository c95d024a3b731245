import Foundation
import Synchronizer
import TestTraits
import Testing

@testable import SynchronizerTesting

@Suite("A request to a stub server", .bounded)
struct StubTransferTests {
    @Test("that is interrupted before its task is known has its task cancelled")
    func interruptedEarly() async throws {
        let (isReporting, mayGoOn, left) = (Gate(), DispatchSemaphore(value: 0), Gate())
        let transfer = StubTransfer(
            URLRequest(url: try #require(URL(string: "https://example.com/"))), delegate: SessionDelegate()
        ) { _ in
            isReporting.open()
            mayGoOn.wait()
        }
        let report = Task { await transfer.report(.sent(1, of: 1)) }
        try await isReporting.wait()
        transfer.interrupt()  // its end waits until the report has been received
        transfer.begin {
            defer { left.open() }
            try await Gate().wait()
        }
        try await left.wait()
        for _ in 0..<2 { mayGoOn.signal() }
        await report.value
    }
}
