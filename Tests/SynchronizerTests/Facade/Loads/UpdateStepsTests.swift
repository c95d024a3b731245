import Foundation
import TestSupport
import TestTraits
import Testing

@testable import Synchronizer

@Suite("Steps of updates", .bounded)
struct UpdateStepsTests {
    @Test("come one at a time, none twice, and none after the last one, from whatever threads they are reported")
    func order() async throws {
        let url = try #require(URL(string: "http://a.example/"))
        for _ in 0..<500 {
            let heard = Collector<String>()
            let inside = Locked(0)
            let overlaps = Locked(0)
            let steps = UpdateSteps<DataResource> { step in
                let depth = inside.withLock { depth in
                    depth += 1
                    return depth
                }
                if depth > 1 { overlaps.withLock { $0 += 1 } }
                if case .success = step { heard.append("stored") } else { heard.append("end") }
                inside.withLock { $0 -= 1 }
            }
            let loaded = LoadedObject(
                object: Data(), cost: 0, bodyChecksum: 0,
                head: ResponseHead(url: url, status: 200, fields: .init()), freshUntil: .distantPast, trace: LoadTrace()
            )
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<2 { group.addTask { steps.show(loaded, isLast: false) } }
                group.addTask { steps.end(with: .failure(.notCached(.init(url: url, trace: LoadTrace())))) }
            }
            #expect([["end"], ["stored", "end"]].contains(heard.elements))
            #expect(overlaps.withLock { $0 } == 0)
        }
    }
}
