import Foundation
import FoundationNetworking

extension TaskCore {
    var delegate: (any URLSessionTaskDelegate)? {
        get { state.withLock { ($0.delegates ?? $0.session?.delegates)?.task } }
        set {
            let delegates = Delegates(newValue)
            state.withLock { state in
                guard state.machine == TaskMachine() else { return }  // too late: the task is no longer new
                state.delegates = newValue == nil ? nil : delegates
            }
        }
    }

    var expectedToReceive: Int64 {
        let field = state.withLock { $0.head?.fields.first { $0.isNamed(FieldName.contentLength) }?.value }
        return field.flatMap { Int64($0) } ?? NSURLSessionTransferSizeUnknown
    }

    /// Created on first access, because it is expensive and rarely used.
    func progress(cancel: @escaping @Sendable () -> Void) -> Progress {
        let progress = state.withLock { state in
            if let progress = state.progress { return progress }
            let progress = Progress(totalUnitCount: -1)
            progress.cancellationHandler = cancel
            state.progress = progress
            return progress
        }
        updateProgress()
        return progress
    }

    func updateProgress() {
        guard let progress = state.withLock({ $0.progress }) else { return }
        let (sent, received, toSend, isOver) = state.withLock {
            ($0.bytesSent, $0.bytesReceived, $0.expectedToSend, $0.machine.state == .completed)
        }
        let toReceive = expectedToReceive
        let done = sent.addingReportingOverflow(received).partialValue
        let total = toSend.addingReportingOverflow(toReceive)
        progress.totalUnitCount = isOver ? max(1, done) : toReceive < 0 || total.overflow ? -1 : total.partialValue
        progress.completedUnitCount = isOver ? max(1, done) : done
    }
}

extension RequestBody {
    /// Creates the body from `httpBody` or `httpBodyStream`.
    init(of request: URLRequest) {
        if let data = request.httpBody, !data.isEmpty {
            self = .data(data)
        } else if let stream = request.httpBodyStream {
            let length = request.value(forHTTPHeaderField: FieldName.contentLength).flatMap { Int64($0) }
            self = .stream(BodyStream(stream), length: length.flatMap { $0 >= 0 ? $0 : nil })
        } else {
            self = .none
        }
    }
}
