import Foundation

/// Makes previews of one body while it arrives, on a queue of its own, as its ``PreviewPacer`` says.
final class PreviewRun: Sendable {
    /// Makes a preview of the bytes so far; what it makes previews with lives in it.
    typealias Preview = (Data) -> (any Sendable)?

    private struct State {
        var pacer: PreviewPacer
        var head: ResponseHead?
        var body = Data()
        /// Grows with each response: a retry begins anew.
        var response = 0
        var isOver = false
    }

    /// The previewer of the response at hand: touched on the run's queue only.
    private final class Maker: @unchecked Sendable {  // confined to the run's queue
        var response = 0
        var preview: Preview?
    }

    private let job: LoadJob
    private let time: any TimeSource
    private let report: @Sendable (any Sendable, ResponseHead) -> Void
    private let state: Locked<State>
    private let maker = Maker()
    private let queue = DispatchQueue(label: "Synchronizer.previews", qos: .parsing)

    /// - Parameter interval: seconds from the start of one preview to that of the next, at least.
    init(
        interval: TimeInterval, time: any TimeSource, job: LoadJob,
        report: @escaping @Sendable (any Sendable, ResponseHead) -> Void
    ) {
        self.time = time
        self.job = job
        self.report = report
        state = Locked(State(pacer: PreviewPacer(interval: interval)))
    }

    /// A response begins.
    func begin(_ head: ResponseHead) {
        state.withLock { state in
            state.head = head
            state.body = Data()
            state.response += 1
        }
    }

    func received(_ data: Data) {
        perform { state, now in
            state.body.append(data)
            return state.pacer.received(at: now)
        }
    }

    /// The body is there, or nobody looks any more. A preview under way is given up.
    func stop() {
        state.withLock { state in
            state.isOver = true
            state.body = Data()
        }
    }

    private func perform(_ event: (inout State, Double) -> PreviewPacer.Action) {
        let now = time.now.timeIntervalSinceReferenceDate
        let action = state.withLock { $0.isOver || $0.head == nil ? .nothing : event(&$0, now) }
        switch action {
        case .nothing: break
        case .preview: queue.async { self.preview() }
        case .wake(let delay):
            _ = time.schedule(after: delay) { [self] in perform { $0.pacer.woken(at: $1) } }
        }
    }

    private func preview() {
        let (body, head, response) = state.withLock { ($0.body, $0.head, $0.response) }
        if maker.response != response {
            maker.response = response
            maker.preview = job.makePreviewer()
        }
        let object = ParseCancellation.with({ self.state.withLock { $0.isOver } }) { maker.preview?(body) }
        if let object, let head, state.withLock({ !$0.isOver && $0.response == response }) { report(object, head) }
        perform { $0.pacer.previewed(at: $1) }
    }
}
