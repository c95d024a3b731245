import Foundation
import HTTPCaching

/// The hooks of the configuration, which change requests.
struct RequestHooks: Sendable {
    typealias Prepare = @Sendable (URLRequest) async throws -> URLRequest
    typealias Authenticate = @Sendable (URLRequest, HTTPURLResponse) async throws -> URLRequest?

    /// Whether the current task runs a hook. The loads that a hook starts run no hooks: the hook could wait for itself.
    @TaskLocal static var isRunning = false

    let prepare: Prepare?
    let authenticate: Authenticate?

    /// Nil without a hook.
    init?(prepare: Prepare?, authenticate: Authenticate?) {
        guard prepare != nil || authenticate != nil else { return nil }
        self.prepare = prepare
        self.authenticate = authenticate
    }
}

/// A subscriber's load whose request the hooks may change.
final class HookedLoad: Sendable {
    private struct State {
        /// The load with the request that was sent last.
        var job: LoadJob
        var priority: LoadPriority
        /// ``Authentications/count`` when it was sent.
        var sentAt = 0
        /// Whether the smaller version was requested.
        var usesLowData = false
        /// How often it was sent again because it was refused.
        var refusals = 0
        /// Cancels the running `prepare`, and the timer of the load. Nil when the load is over.
        var cancellations: [CancelLoading]? = []
    }

    /// The most times that a load is sent again because it was refused.
    private static let mostRefusals = 3

    /// The load as the caller asked for it.
    let original: LoadJob
    let receiver: LoadReceiver
    private let state: Locked<State>

    init(_ job: LoadJob, receiver: LoadReceiver) {
        original = job
        self.receiver = receiver
        state = Locked(State(job: job, priority: job.priority))
    }

    /// The URL for errors: the caller does not know that of the prepared request.
    var url: URL? { original.request.url }

    func setPriority(_ priority: LoadPriority) { state.withLock { $0.priority = priority } }

    /// Calls the closure when the load is over; at once if it is over already.
    func onStop(_ cancel: @escaping CancelLoading) {
        let isOver = state.withLock { state in
            state.cancellations?.append(cancel)
            return state.cancellations == nil
        }
        if isOver { cancel() }
    }

    /// The load is over.
    func stop() {
        let cancellations = state.withLock { state in
            defer { state.cancellations = nil }
            return state.cancellations
        }
        cancellations?.forEach { $0() }
    }

    /// The load with another request, which is sent now.
    func job(for identity: ResourceIdentity, cookies: String?, sentAt: Int) -> LoadJob {
        state.withLock { state in
            state.job = original.changed(to: identity, priority: state.priority, cookies: cookies)
            state.sentAt = sentAt
            return state.job
        }
    }

    /// Notes that the load failed. Returns the request for the smaller version, if the network is constrained.
    func lowDataRequest(after error: SynchronizerError) -> URLRequest? {
        guard let request = original.lowDataRequest, error.isDueToConstrainedNetwork else { return nil }
        return state.withLock { state in
            defer { state.usesLowData = true }
            return state.usesLowData ? nil : request
        }
    }

    /// Notes that the load failed. Returns the refusal, if the server refused the credentials and they may be replaced.
    ///
    /// If a redirect led to another origin, that origin must not get the credentials. A request with a body stream, and an unsafe
    /// request that was redirected, must not be sent twice.
    func refusal(_ error: SynchronizerError, of id: LoadReceiver.ID) -> Authentications<LoadReceiver.ID>.Refusal? {
        guard case .status(let response, let context) = error, [401, 407].contains(response.statusCode) else {
            return nil
        }
        return state.withLock { state in
            let redirects = context.trace.redirects
            guard state.refusals < Self.mostRefusals, state.job.request.httpBodyStream == nil,
                redirects.isEmpty || (state.job.identity != nil && state.job.isOrigin(of: redirects))
            else { return nil }
            state.refusals += 1
            return .init(
                load: id, origin: state.job.host.lowercased(), request: state.job.request, error: error,
                sentAt: state.sentAt)
        }
    }
}

extension LoadJob {
    /// Whether all redirects stayed at the origin of the request.
    fileprivate func isOrigin(of redirects: [URL]) -> Bool {
        guard let url = request.url else { return false }
        return redirects.allSatisfy { CacheRules.sameOrigin($0.absoluteString, url.absoluteString) }
    }
}
