import Foundation

/// Makes previews of one body while it arrives, when its ``PreviewPacer`` says so and it has a slot.
final class PreviewRun: Sendable {
    /// Makes a preview of the bytes so far; it owns the previewer.
    typealias Preview = (Data) -> (any Sendable)?

    private struct State {
        var pacer: PreviewPacer
        /// Nil while no previews are made: no response has begun, or some of its bytes are missing.
        var head: ResponseHead?
        var body = Data()
        /// Counts responses: a retry starts over.
        var response = 0
        var isOver = false
        /// Whether a parse waits for the slot of the running preview.
        var isToYield = false

        /// Makes no previews until a new response begins.
        mutating func endPreviews() {
            head = nil
            body = Data()
        }
    }

    /// The previewer of the current response, used only by the thread that has the run's slot.
    private final class Maker: @unchecked Sendable {  // confined to that thread: a run has one slot at a time
        var response = 0
        var preview: Preview?
    }

    private let makePreviewer: @Sendable () -> Preview?
    private let time: any TimeSource
    private let isDue: @Sendable () -> Void
    private let report: @Sendable (any Sendable, ResponseHead) -> Void
    private let state: Locked<State>
    private let maker = Maker()

    /// - Parameters:
    ///   - interval: seconds from the start of one preview to that of the next, at least.
    ///   - makePreviewer: called for each response.
    ///   - isDue: requests a slot. The owner calls ``preview()`` when it has the slot, and ``previewed()`` after releasing it.
    init(
        interval: TimeInterval, time: any TimeSource, makePreviewer: @escaping @Sendable () -> Preview?,
        isDue: @escaping @Sendable () -> Void,
        report: @escaping @Sendable (any Sendable, ResponseHead) -> Void
    ) {
        self.time = time
        self.makePreviewer = makePreviewer
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

    /// The body continues after this many bytes. If the run does not have those bytes, it makes no previews until a new response
    /// begins.
    func resume(after count: Int) {
        state.withLock { state in
            if state.body.count != count { state.endPreviews() }
        }
    }

    /// - Parameter count: the bytes of the body so far. The run has missed some of them if there were no watchers for a while.
    func received(_ data: Data, upTo count: Int) {
        perform { state, now in
            guard state.head != nil else { return .nothing }
            guard state.body.count + data.count == count else {
                state.endPreviews()
                return .nothing
            }
            state.body.append(data)
            return state.pacer.received(at: now)
        }
    }

    /// The body is complete, or the load is cancelled. A running preview is cancelled.
    func stop() {
        state.withLock { state in
            state.isOver = true
            state.body = Data()
        }
    }

    private func perform(_ event: (inout State, Double) -> PreviewPacer.Action) {
        let now = time.now.timeIntervalSinceReferenceDate
        let action = state.withLock { $0.isOver ? .nothing : event(&$0, now) }
        switch action {
        case .nothing: break
        case .preview:
            state.withLock { $0.isToYield = false }
            isDue()
        case .wake(let delay):
            _ = time.schedule(after: delay) { [self] in perform { $0.pacer.woken(at: $1) } }
        }
    }

    /// A parse needs the slot of the running preview, which is cancelled.
    func yield() { state.withLock { $0.isToYield = true } }

    /// Makes a preview of the bytes so far.
    func preview() {
        let (body, begun, response) = state.withLock { ($0.body, $0.head, $0.response) }
        guard let head = begun else { return }
        if maker.response != response {
            maker.response = response
            maker.preview = makePreviewer()
        }
        let object = ParseCancellation.with({ self.state.withLock { $0.isOver || $0.isToYield } }) {
            maker.preview?(body)
        }
        if let object, state.withLock({ !$0.isOver && $0.response == response }) { report(object, head) }
    }

    /// The slot was released. If the preview was cancelled for a parse, the next one uses a new previewer, because the old one
    /// stopped midway.
    func previewed() {
        let hasYielded = state.withLock { $0.isToYield }
        if hasYielded { maker.response = 0 }
        perform { state, now in
            if hasYielded { _ = state.pacer.received(at: now) }
            return state.pacer.previewed(at: now)
        }
    }
}
