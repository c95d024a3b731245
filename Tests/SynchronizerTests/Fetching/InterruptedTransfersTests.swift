import Foundation
import HTTPCaching
import TestTraits
import Testing

@testable import Synchronizer

@Suite("The beginnings of interrupted transfers", .bounded)
struct InterruptedTransfersTests {
    @Test("are limited in number even if they are tiny: each one counts with its response")
    func tiny() {
        let transfers = InterruptedTransfers()
        let urls = (0..<40_000).map { "http://a.example/\($0)" }
        for url in urls {
            let response = StoredResponse(
                url: url, method: "GET", selectingFields: HTTPFields(), status: 206, fields: HTTPFields(),
                requestTime: .distantPast, responseTime: .distantPast, part: .init(range: 0..<1, completeLength: 2))
            transfers.keep(response, body: Data(count: 1))
        }
        let kept = urls.filter { transfers.part(for: $0) != nil }
        #expect((30_000..<33_000).contains(kept.count) && kept.last == urls.last)
        for url in urls { transfers.remove(url) }
        #expect(kept.allSatisfy { transfers.part(for: $0) == nil })
    }
}
