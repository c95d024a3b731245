import Foundation
import FoundationNetworking
import SynchronizerSupport
import TestTraits
import Testing

@testable import CurlSession

@Suite(.bounded) struct InvalidSessionTests {
    /// Foundation's session would end the process.
    @Test func `an invalidated session refuses new tasks also for Foundation's schemes`() async throws {
        for cancels in [true, false] {
            let bench = try Bench()
            if cancels { bench.session.invalidateAndCancel() } else { bench.session.finishTasksAndInvalidate() }
            await bench.recorder.waitForInvalidation()
            let url = URL(fileURLWithPath: "/dev/null")
            let (session, request, codes) = (bench.session, URLRequest(url: url), Locked<[URLError.Code?]>([]))
            let note: @Sendable (Data?, URLResponse?, (any Error)?) -> Void = { _, _, error in
                codes.withLock { $0.append((error as? URLError)?.code) }
            }
            let tasks = [
                session.dataTask(with: url), session.dataTask(with: url, completionHandler: note),
                session.uploadTask(with: request, from: Data()), session.uploadTask(with: request, fromFile: url),
                session.uploadTask(withStreamedRequest: request),
                session.uploadTask(with: request, from: nil, completionHandler: note),
                session.uploadTask(with: request, fromFile: url, completionHandler: note),
            ]
            for task in tasks { task.resume() }
            while tasks.contains(where: { $0.state != .completed }) { await Task.yield() }
            #expect(tasks.allSatisfy { ($0.error as? URLError)?.code == .cancelled })
            while codes.withLock({ $0.count }) < 3 { await Task.yield() }
            #expect(codes.withLock { $0 } == [.cancelled, .cancelled, .cancelled])
        }
    }
}
