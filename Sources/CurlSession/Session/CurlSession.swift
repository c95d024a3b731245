import Foundation
import FoundationNetworking
import SynchronizerSupport
@_exported import TransportSecurity

/// A `URLSession` whose data and upload tasks run on libcurl directly: no server can crash the process or hang a task, and
/// a small load costs a fraction of what Foundation's session takes.
///
/// ```swift
/// let session = CurlSession(configuration: .default)
/// let (data, response) = try await session.data(from: url)
/// ```
///
/// You can use it from any thread. One thread runs libcurl for all sessions. Delegates are called on `delegateQueue`, or directly
/// on its `underlyingQueue` if it has one, which is ten times cheaper. ``shared`` is a session without a delegate.
///
/// Foundation's session takes download and web socket tasks, requests whose scheme is neither http nor https, and requests that
/// one of the configuration's own `protocolClasses` claims.
open class CurlSession: URLSession, @unchecked Sendable {  // all variables are `let` or Locked
    /// Options that `URLSessionConfiguration` does not have.
    public struct Options: Sendable {
        /// Whether a redirect is delivered as the final response of its task. Then the session does not ask the delegate about it.
        public var reportsRedirects = false

        /// Whether the body of a delivered redirect must arrive within a second. If it does not, the task fails with `.timedOut`.
        package var limitsRedirectBodies = false

        /// Which servers are trusted over TLS, and the certificate that the session presents.
        public var tls = TLSConfiguration()

        /// Whether the task of a `GET` fails if libcurl before 8.1 can't tell whether the response is complete.
        package var refusesUncertainEnds = false

        /// See `TransferOptions`; nil for the usual size.
        var bufferSize: Int?

        /// The default options.
        public init() {}
    }

    let pool: ConnectionPool
    private let protocolClasses: [URLProtocol.Type]
    private let tasks: Locked<TaskTable>

    /// Creates a session without a delegate, for the methods with completion handlers and the `async` ones.
    public convenience override init(configuration: URLSessionConfiguration) {
        self.init(configuration: configuration, delegate: nil, delegateQueue: nil)
    }

    /// Creates a session. It keeps its delegate until you invalidate it.
    public convenience override init(
        configuration: URLSessionConfiguration, delegate: (any URLSessionDelegate)?,
        delegateQueue queue: OperationQueue?
    ) {
        self.init(configuration: configuration, delegate: delegate, delegateQueue: queue, options: Options())
    }

    /// Creates a session with options.
    public convenience init(
        configuration: URLSessionConfiguration, delegate: (any URLSessionDelegate)?,
        delegateQueue queue: OperationQueue?,
        options: Options
    ) {
        self.init(configuration: configuration, delegate: delegate, queue: queue, options: options, engine: .shared)
    }

    init(
        configuration: URLSessionConfiguration, delegate: (any URLSessionDelegate)?, queue: OperationQueue?,
        options: Options, engine: Engine, environment: [String: String] = ProcessInfo.processInfo.environment
    ) {
        let operations = queue ?? OperationQueue()
        if queue == nil { operations.maxConcurrentOperationCount = 1 }
        pool = ConnectionPool(
            engine: engine,
            options: TransferOptions(
                configuration, tls: options.tls, reportsRedirects: options.reportsRedirects,
                limitsRedirectBodies: options.limitsRedirectBodies,
                refusesUncertainEnds: options.refusesUncertainEnds, bufferSize: options.bufferSize,
                environment: environment),
            executor: DelegateExecutor(operations))
        protocolClasses = (configuration.protocolClasses ?? []).compactMap { $0 as? URLProtocol.Type }
            .filter { !String(reflecting: $0).hasPrefix("FoundationNetworking.") }
        tasks = Locked(TaskTable(delegates: Delegates(delegate)))
        super.init(configuration: configuration, delegate: delegate, delegateQueue: operations)
    }

    deinit {
        pool.perform { [pool] in pool.close() }
    }

    /// A session without a delegate, with the default configuration, like `URLSession.shared`. It can't be invalidated.
    public override class var shared: CurlSession { SharedSession.instance }

    // MARK: Data tasks

    public override func dataTask(with request: URLRequest) -> URLSessionDataTask {
        foundationTask(request) { super.dataTask(with: request) } ?? task(request)
    }

    public override func dataTask(with url: URL) -> URLSessionDataTask {
        dataTask(with: URLRequest(url: url))
    }

    public override func dataTask(
        with request: URLRequest,
        completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionDataTask {
        foundationTask(request) { super.dataTask(with: request, completionHandler: completionHandler) }
            ?? task(request, handler: completionHandler)
    }

    public override func dataTask(
        with url: URL, completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionDataTask {
        dataTask(with: URLRequest(url: url), completionHandler: completionHandler)
    }

    // MARK: Upload tasks

    public override func uploadTask(with request: URLRequest, from bodyData: Data) -> URLSessionUploadTask {
        foundationTask(request) { super.uploadTask(with: request, from: bodyData) }
            ?? upload(request, body: .data(bodyData))
    }

    public override func uploadTask(with request: URLRequest, fromFile fileURL: URL) -> URLSessionUploadTask {
        foundationTask(request) { super.uploadTask(with: request, fromFile: fileURL) }
            ?? upload(request, body: .file(fileURL))
    }

    /// The session asks the delegate for the body with `urlSession(_:task:needNewBodyStream:)`.
    public override func uploadTask(withStreamedRequest request: URLRequest) -> URLSessionUploadTask {
        foundationTask(request) { super.uploadTask(withStreamedRequest: request) } ?? upload(request, body: .asked)
    }

    public override func uploadTask(
        with request: URLRequest, from bodyData: Data?,
        completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionUploadTask {
        let body = bodyData ?? Data()
        return foundationTask(request) {
            super.uploadTask(with: request, from: body, completionHandler: completionHandler)
        } ?? upload(request, body: .data(body), handler: completionHandler)
    }

    public override func uploadTask(
        with request: URLRequest, fromFile fileURL: URL,
        completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionUploadTask {
        foundationTask(request) {
            super.uploadTask(with: request, fromFile: fileURL, completionHandler: completionHandler)
        } ?? upload(request, body: .file(fileURL), handler: completionHandler)
    }

    // MARK: Tasks

    /// Calls the handler on the delegate queue, with the tasks that have been resumed and have not ended, Foundation's included.
    public override func getAllTasks(completionHandler: @escaping @Sendable ([URLSessionTask]) -> Void) {
        super.getAllTasks { [self] others in completionHandler(runningTasks + others) }
    }

    public override func getTasksWithCompletionHandler(
        _ completionHandler:
            @escaping @Sendable ([URLSessionDataTask], [URLSessionUploadTask], [URLSessionDownloadTask])
            -> Void
    ) {
        super.getTasksWithCompletionHandler { [self] data, uploads, downloads in
            let running = runningTasks
            let own = running.compactMap { $0 as? URLSessionUploadTask }
            completionHandler(running.filter { !($0 is URLSessionUploadTask) } + data, own + uploads, downloads)
        }
    }

    private var runningTasks: [URLSessionDataTask] {
        tasks.withLock { Array($0.running.values) }.compactMap { $0.state.withLock { $0.task } }
    }

    private func task(_ request: URLRequest, handler: TaskCore.Handler? = nil) -> CurlTask {
        let task = CurlTask(TaskCore(request, session: self, handler: handler))
        created(task, with: task.core)
        return task
    }

    private func upload(_ request: URLRequest, body: RequestBody, handler: TaskCore.Handler? = nil) -> CurlUploadTask {
        let task = CurlUploadTask(TaskCore(request, session: self, body: body, handler: handler))
        created(task, with: task.core)
        return task
    }

    private func created(_ task: URLSessionDataTask, with core: TaskCore) {
        tasks.withLock { $0.created(task, with: core) }
    }

    /// Creates a task of Foundation's session, if that session serves the request. Nil for another request. Nil, too, if the
    /// session is invalid: then Foundation would end the process. Foundation's session stays valid until `create` has returned.
    private func foundationTask<Task>(_ request: URLRequest, _ create: () -> Task) -> Task? {
        guard isForFoundation(request) else { return nil }
        let isAccepted = tasks.withLock { $0.count().isAccepted }
        defer { if let invalidation = tasks.withLock({ $0.uncount() }) { finish(invalidation) } }
        return isAccepted ? create() : nil
    }

    /// Whether Foundation's session serves a request.
    func isForFoundation(_ request: URLRequest) -> Bool {
        if protocolClasses.contains(where: { $0.canInit(with: request) }) { return true }
        guard let url = request.url else { return false }
        return URLReference.origin(of: url.absoluteString) == nil
    }

    /// The value of the `Cookie` line that the session would add to a request now. Never waits for the cookie storage's file.
    package func cookieHeader(for request: URLRequest) -> String? { pool.options.cookies.header(for: request) }

    // MARK: Invalidation

    /// Lets the tasks run to their end; then notifies and releases the delegate. Tasks created afterwards fail with `.cancelled`.
    public override func finishTasksAndInvalidate() {
        let invalidation = tasks.withLock { tasks in
            tasks.invalidate(.finishTasks)
            return tasks.finishIfDone()
        }
        if let invalidation { finish(invalidation) }
    }

    /// Cancels all tasks, and invalidates the session as `finishTasksAndInvalidate` does.
    public override func invalidateAndCancel() {
        let new = tasks.withLock { tasks in
            tasks.invalidate(.cancelTasks)
            return tasks.newTasks
        }
        for task in runningTasks + new { task.cancel() }
        super.getAllTasks { others in others.forEach { $0.cancel() } }
        finishTasksAndInvalidate()
    }

    private func finish(_ invalidation: TaskTable.Invalidation) {
        pool.perform { [pool] in pool.close() }
        // Foundation's session waits for its own tasks, and notifies the delegate.
        switch invalidation {
        case .finishTasks: super.finishTasksAndInvalidate()
        case .cancelTasks: super.invalidateAndCancel()
        }
    }
}

extension CurlSession: TaskOwner {
    var delegates: Delegates? { tasks.withLock { $0.delegates } }

    func addTask() -> (identifier: Int, isAccepted: Bool) { tasks.withLock { $0.count() } }

    func taskStarted(_ task: TaskCore) { tasks.withLock { $0.started(task) } }

    func taskEnded(_ task: TaskCore) {
        if let invalidation = tasks.withLock({ $0.ended(task) }) { finish(invalidation) }
    }
}

private final class SharedSession: CurlSession, @unchecked Sendable {  // as its superclass
    static let instance = SharedSession(configuration: .default, delegate: nil, delegateQueue: nil, options: Options())

    override func finishTasksAndInvalidate() {}
    override func invalidateAndCancel() {}
}
