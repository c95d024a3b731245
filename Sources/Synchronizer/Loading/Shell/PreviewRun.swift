import Foundation

/// Makes previews of one body while it arrives, when its ``PreviewPacer`` says, and when it has a turn to.
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
        /// Whether a parse waits for the turn of the preview under way.
        var isToMakeWay = false
    }

    /// The previewer of the response at hand: touched by the thread that has the run's turn only.
    private final class Maker: @unchecked Sendable {  // confined to that thread: a run has one turn at a time
        var response = 0
        var preview: Preview?
    }

    private let job: LoadJob
    private let time: any TimeSource
    private let isDue: @Sendable () -> Void
    private let report: @Sendable (any Sendable, ResponseHead) -> Void
    private let state: Locked<State>
    private let maker = Maker()

    /// - Parameters:
    ///   - interval: seconds from the start of one preview to that of the next, at least.
    ///   - isDue: asks for a turn; whoever gives it calls ``preview()``, and when the turn is over ``previewed()``.
    init(
        interval: TimeInterval, time: any TimeSource, job: LoadJob, isDue: @escaping @Sendable () -> Void,
        report: @escaping @Sendable (any Sendable, ResponseHead) -> Void
    ) {
        self.time = time
        self.job = job
        self.isDue = isDue
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

    /// The body goes on after so many bytes. Without those there are no previews, until a response begins anew.
    func goOn(after count: Int) {
        state.withLock { state in
            if state.body.count != count { state.head = nil }
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
        case .preview:
            state.withLock { $0.isToMakeWay = false }
            isDue()
        case .wake(let delay):
            _ = time.schedule(after: delay) { [self] in perform { $0.pacer.woken(at: $1) } }
        }
    }

    /// A parse needs the turn of the preview under way, which is given up.
    func makeWay() { state.withLock { $0.isToMakeWay = true } }

    /// Makes a preview of what there is by now.
    func preview() {
        let (body, head, response) = state.withLock { ($0.body, $0.head, $0.response) }
        if maker.response != response {
            maker.response = response
            maker.preview = job.makePreviewer()
        }
        let object = ParseCancellation.with({ self.state.withLock { $0.isOver || $0.isToMakeWay } }) {
            maker.preview?(body)
        }
        if let object, let head, state.withLock({ !$0.isOver && $0.response == response }) { report(object, head) }
    }

    /// The turn is over. What had to make way begins anew, with another previewer: this one has stopped somewhere midway.
    func previewed() {
        let hasMadeWay = state.withLock { $0.isToMakeWay }
        if hasMadeWay { maker.response = 0 }
        perform { state, now in
            if hasMadeWay { _ = state.pacer.received(at: now) }
            return state.pacer.previewed(at: now)
        }
    }
}
