import Foundation

extension NativeFetch {
    enum Phase {
        /// The fetch looks the request up, or is about to send it.
        case lookingUp
        /// The fetch sends this request once the load has a network slot.
        case waitingForSlot(URLRequest)
        case running(NativeTask)
    }

    /// The state of a fetch that has neither ended nor been cancelled.
    struct State {
        let receive: @Sendable (FetchEvent) -> Void
        private(set) var phase = Phase.lookingUp
        /// Whether the load has given the fetch its network slot. A task that must not use the network runs without one, too.
        private(set) var hasSlot = false
        /// The tasks that have begun.
        private var tasks = 0

        init(receive: @escaping @Sendable (FetchEvent) -> Void) {
            self.receive = receive
        }

        var task: NativeTask? { if case .running(let task) = phase { task } else { nil } }

        /// Returns whether the fetch has a network slot. If not, keeps the request until it gets one.
        mutating func obtainSlot(for request: URLRequest) -> Bool {
            if !hasSlot { phase = .waitingForSlot(request) }
            return hasSlot
        }

        /// Notes that the fetch has its network slot; returns the request that waits for it.
        mutating func takeWaiting() -> URLRequest? {
            guard case .waitingForSlot(let request) = phase else { return nil }
            (phase, hasSlot) = (.lookingUp, true)
            return request
        }

        /// Begins a task, which gets the next number; returns this number.
        mutating func begin(_ task: (_ number: Int) -> NativeTask) -> Int {
            tasks += 1
            phase = .running(task(tasks))
            return tasks
        }

        /// Ends the task that is running; returns it. If `number` is given, only if the task has that number.
        mutating func takeTask(_ number: Int? = nil) -> NativeTask? {
            guard case .running(let task) = phase, number == nil || number == task.number else { return nil }
            phase = .lookingUp
            return task
        }

        /// Changes the task that is running.
        mutating func update(_ change: (inout NativeTask) -> Void) {
            guard var task = takeTask() else { return }  // taken, so that the change copies no body
            change(&task)
            phase = .running(task)
        }
    }
}
