import Foundation
import FoundationNetworking

/// A data task of a ``CurlSession``.
///
/// You can read all properties from any thread.
public final class CurlTask: URLSessionDataTask, @unchecked Sendable {  // the only variable, `core`, is Sendable
    let core: TaskCore

    init(_ core: TaskCore) {
        self.core = core
        super.init()
    }

    /// The measurements of the task's last request. They are set when the head of its response arrives, and final once the task has
    /// completed.
    public var metrics: CurlTaskMetrics { core.state.withLock { $0.metrics } }

    public override func resume() { core.resume(self) }
    public override func suspend() { core.suspend() }
    public override func cancel() { core.cancel(self) }

    public override var state: URLSessionTask.State { core.state.withLock { $0.machine.state } }
    public override var taskIdentifier: Int { core.identifier }
    public override var originalRequest: URLRequest? { core.originalRequest }
    public override var currentRequest: URLRequest? { core.state.withLock { $0.currentRequest } }
    public override var response: URLResponse? { core.response }
    public override var error: (any Error)? { core.state.withLock { $0.error } }
    public override var progress: Progress { core.progress { [weak self] in self?.cancel() } }

    /// The priority, which orders tasks that wait for a connection. It is read when the task is resumed, and again for each further
    /// request, such as after a redirect.
    public override var priority: Float {
        get { core.state.withLock { $0.priority } }
        set { core.state.withLock { $0.priority = newValue } }
    }

    /// The task's own delegate, or else the session's. Set it before the task is resumed.
    public override var delegate: (any URLSessionTaskDelegate)? {
        get { core.delegate }
        set { core.delegate = newValue }
    }

    public override var countOfBytesReceived: Int64 { core.state.withLock { $0.bytesReceived } }
    public override var countOfBytesSent: Int64 { core.state.withLock { $0.bytesSent } }
    public override var countOfBytesExpectedToSend: Int64 { core.state.withLock { $0.expectedToSend } }
    public override var countOfBytesExpectedToReceive: Int64 { core.expectedToReceive }
}

extension URLSessionTask {
    /// Makes a task of a `CurlSession` take no more bytes of its body, until it is called with false. Unlike a suspended task, the
    /// task counts as one with a slow delegate: if other tasks share its connection, it does not fail, and they wait.
    ///
    /// - Returns: False if another session runs the task. Then the call has no effect.
    package func holdBody(_ isHeld: Bool) -> Bool {
        guard let core = (self as? CurlTask)?.core ?? (self as? CurlUploadTask)?.core else { return false }
        core.hold(isHeld)
        return true
    }
}
