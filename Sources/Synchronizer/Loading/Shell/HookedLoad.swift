import Foundation
import HTTPCaching

/// A subscriber's load whose request the hooks may change.
final class HookedLoad: Sendable {
    private struct State {
        /// The load with the request that was sent last.
        var job: LoadJob
        var priority: LoadPriority
        /// ``Authentications/count`` when it was sent.
        var sentAt: Int
        var fallback: VersionFallback
        /// How often it was sent again because it was refused.
        var refusals = 0
        /// Cancels the running `prepare`, and the timer of the load. Nil when the load is over.
        var cancellations: [CancelLoading]? = []
    }

    /// The most times that a load is sent again because it was refused.
    private static let maximumRefusals = 3

    /// The load as the caller asked for it.
    let original: LoadJob
    let receiver: LoadReceiver
    /// Nil if a hook has started the load.
    let hooks: RequestHooks?
    /// The call of a hook that has started the load, if there is one.
    let startedIn: HookCall?
    private let state: Locked<State>

    init(
        _ job: LoadJob, receiver: LoadReceiver, hooks: RequestHooks?, startedIn call: HookCall? = nil, sentAt: Int
    ) {
        original = job
        startedIn = call
        self.receiver = receiver
        self.hooks = hooks
        let fallback = VersionFallback(
            to: job.otherVersion,
            maySendAgain: RetryPolicy.maySendAgain(job.request, isSafe: job.options.body != nil))
        state = Locked(State(job: job, priority: job.priority, sentAt: sentAt, fallback: fallback))
    }

    /// The URL for errors: the caller does not know that of the prepared request.
    var url: URL? { original.callerURL }

    var priority: LoadPriority { state.withLock { $0.priority } }

    /// Whether the caller has its result or has cancelled, or the load has reached its time limit.
    var isOver: Bool { state.withLock { $0.cancellations == nil } }

    func setPriority(_ priority: LoadPriority) { state.withLock { $0.priority = priority } }

    /// Calls the closure when the load is over; at once if it is over already.
    func onStop(_ cancel: @escaping CancelLoading) {
        let isOver = state.withLock { state in
            state.cancellations?.append(cancel)
            return state.cancellations == nil
        }
        if isOver { cancel() }
    }

    /// Ends the load, and calls the closures of ``onStop(_:)``.
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

    /// Whether the load is sent again with another request, or asks `authenticate` for one.
    func continues(after error: SynchronizerError) -> Bool {
        state.withLock { state in
            state.fallback.request(after: error) != nil || mayAuthenticate(after: error, in: state)
        }
    }

    /// Notes that the load failed. Returns the request for the other version, if the load continues with it.
    func otherVersion(after error: SynchronizerError) -> URLRequest? {
        state.withLock { $0.fallback.take(after: error) }
    }

    /// The request of the version that is loaded now, as the resource has made it.
    var unprepared: URLRequest {
        state.withLock { $0.fallback.isTaken ? original.otherVersion : nil } ?? original.request
    }

    /// A request of a hook, which need not know that the full version must not use a constrained network.
    func constrained(_ request: URLRequest) -> URLRequest {
        guard original.hasSmallerVersion, !state.withLock({ $0.fallback.isTaken }) else { return request }
        return request.avoidingConstrainedNetworks
    }

    /// Notes that the load failed. Returns the refusal, if the server refused the credentials and they may be replaced.
    ///
    /// If a redirect led to another origin, that origin must not get the credentials. A request with a body stream, and an unsafe
    /// request that was redirected, must not be sent twice.
    func refusal(_ error: SynchronizerError, of id: LoadReceiver.ID) -> Authentications<LoadReceiver.ID>.Refusal? {
        state.withLock { state in
            guard mayAuthenticate(after: error, in: state) else { return nil }
            state.refusals += 1
            return .init(
                load: id, origin: state.job.origin, request: state.job.request, error: error, sentAt: state.sentAt)
        }
    }

    private func mayAuthenticate(after error: SynchronizerError, in state: State) -> Bool {
        guard hooks?.authenticate != nil, case .status(let response, let context) = error,
            [401, 407].contains(response.statusCode)
        else { return false }
        let redirects = context.trace.redirects
        return state.refusals < Self.maximumRefusals && state.job.request.httpBodyStream == nil
            && (redirects.isEmpty || (state.job.identity != nil && state.job.isOrigin(of: redirects)))
    }
}

/// The other version of a resource (``Resource/lowDataURL``), which is requested at most once: after a constrained network has
/// refused the full version, or if the first version is not stored and the network must not be used. A pure value.
///
/// If the network was switched off while an unsafe request was in flight, the load fails as if nothing were stored. The server may
/// have received the request, so the other version of such a request is not requested then.
struct VersionFallback: Sendable {
    /// Nil if there is only one version.
    private let other: URLRequest?
    /// Whether the first version's request may be sent twice.
    private let maySendAgain: Bool
    /// Whether the other version was requested.
    private(set) var isTaken = false

    init(to other: URLRequest?, maySendAgain: Bool) {
        (self.other, self.maySendAgain) = (other, maySendAgain)
    }

    /// The request to send after a failure.
    func request(after error: SynchronizerError) -> URLRequest? {
        if isTaken { return nil }
        if case .notCached = error { return maySendAgain ? other : nil }
        return error.isDueToConstrainedNetwork ? other : nil
    }

    mutating func take(after error: SynchronizerError) -> URLRequest? {
        let request = request(after: error)
        if request != nil { isTaken = true }
        return request
    }
}

extension LoadJob {
    /// The origin, however the URL is written. Unlike ``host``, it has no default port and no user name.
    fileprivate var origin: String { request.url.flatMap { CacheRules.origin(of: $0.absoluteString) } ?? "" }

    /// Whether all redirects stayed at the origin of the request.
    fileprivate func isOrigin(of redirects: [URL]) -> Bool {
        guard let url = request.url else { return false }
        return redirects.allSatisfy { CacheRules.sameOrigin($0.absoluteString, url.absoluteString) }
    }
}
