import Foundation
import HTTPCaching

// Bodies that go to files. While the session may still store the response, it may also hold the body in memory.
extension NativeFetch {
    /// Opens the file for the body of the response whose head has arrived, if it is a success.
    func openSink() {
        guard let target = options.file, let url = request.url else { return }
        let (number, received, replaced) = state.withLock { state in
            let task = state?.task
            state?.update { $0.sink = nil }
            return (task?.number, task?.received, task?.sink)
        }
        replaced?.abandon {}
        guard let received, received.isSpooled, !received.isTooLarge else { return }
        let sink = BodySink(
            BodyPlaces(store: nil, target: target, cacheKey: CacheRules.cacheKey(of: url.absoluteString)),
            continuing: nil,
            resumable: nil, length: received.bodyLength
        ) { [weak self] isPaused in
            guard let transfer = self?.transfer else { return false }
            transfer.setPaused(isPaused)
            return true
        } failed: { [weak self] error in
            guard let self, let task = state.withLock({ $0?.task }), task.number == number else { return }
            task.transfer?.cancel()
            complete(task, with: error)
        }
        update { $0.sink = sink }
        report(.spooling(sink.tap))
        sink.start()
    }

    /// Completes a task, once its body is in the file.
    func completeFile(of task: NativeTask, with error: (any Error)?) {
        guard let sink = task.sink, error == nil else { return complete(task, with: error) }
        sink.end { [self] result in
            var (task, error) = (task, error)
            do {
                task.file = try result.get().finish()
            } catch let failure {
                error = failure
            }
            complete(task, with: error)
        }
    }
}
