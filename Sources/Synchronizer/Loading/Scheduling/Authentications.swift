import Foundation
import HTTPCaching

/// Which loads wait for `Configuration.authenticate`, and which credentials it has replaced. A pure value.
///
/// One call runs for an origin at a time. Loads that were refused with the same credentials share its result. A load that is
/// refused later, with credentials that were replaced in the meantime, gets the new ones without a call. All credentials must be
/// the same: a call may have replaced a token that several users share, or the lack of one, by the token of one user.
struct Authentications<LoadID: Hashable & Sendable>: Sendable {
    /// A request that the server answered with 401 or 407.
    struct Refusal: Sendable {
        let load: LoadID
        let origin: String
        let request: URLRequest
        /// The server's response, as the error of the load.
        let error: SynchronizerError
        /// ``count`` when the request was sent.
        let sentAt: Int
    }

    /// A call of `authenticate`, which may outlive the load that it began for.
    struct Call: Sendable {
        let load: LoadID
        let origin: String
        let request: URLRequest

        init(for refusal: Refusal) {
            (load, origin, request) = (refusal.load, refusal.origin, refusal.request)
        }
    }

    /// What a refused load does next.
    enum Step: Sendable {
        /// Call `authenticate` with this request; report the result to ``ended(_:with:isWaiting:)``.
        case authenticate(Refusal)
        case wait
        case send(LoadID, URLRequest)
        case fail(LoadID, SynchronizerError)
    }

    private typealias Fields = [String: String]

    /// The fields that a call changed, with their old values and the new ones.
    private struct Replacement: Sendable {
        let number: Int
        /// The credentials of the request that was refused.
        let refused: Fields
        let old: [String: String?]
        let new: [String: String?]

        /// Whether the request has what was replaced.
        func applies(to request: URLRequest) -> Bool {
            let fields = Authentications.fields(of: request)
            return old.allSatisfy { fields[$0.key] == $0.value } && Authentications.credentials(of: request) == refused
        }
    }

    private static var maximumOrigins: Int { 1_000 }
    private static var maximumReplacements: Int { 16 }
    /// The number of calls that have ended.
    private(set) var count = 0
    /// The loads that wait, in the order of their refusals, for each origin with a running call.
    private(set) var waiting: [String: LRUList<LoadID, Refusal>] = [:]
    /// The origins where loads wait.
    private var origins: [LoadID: String] = [:]
    private var replacements = LRUList<String, [Replacement]>()
    /// The origins whose running call began before the last log-out.
    private var outdated: Set<String> = []

    /// A load was refused.
    mutating func refused(_ refusal: Refusal) -> Step {
        if let request = replaced(refusal) { return .send(refusal.load, request) }
        let isRunning = waiting[refusal.origin] != nil
        waiting[refusal.origin, default: LRUList()].insert(refusal, for: refusal.load)
        origins[refusal.load] = refusal.origin
        return isRunning ? .wait : .authenticate(refusal)
    }

    /// A load was cancelled, or has its result. If it waits for a call, forgets and returns its refusal, which may have a large
    /// body. The call goes on.
    mutating func leave(_ load: LoadID) -> Refusal? {
        guard !origins.isEmpty, let origin = origins.removeValue(forKey: load) else { return nil }
        return waiting[origin]?.remove(load)
    }

    /// A call has ended. Returns what the loads that waited for it do next. If the call began before a log-out, its result may have
    /// the credentials of the old user, so nothing uses it: the loads wait for a new call.
    ///
    /// - Parameter isWaiting: whether a load has not been cancelled; ``leave(_:)`` may come a moment later.
    mutating func ended(
        _ call: Call, with result: Result<URLRequest?, any Error>, isWaiting: (LoadID) -> Bool
    ) -> [Step] {
        count += 1
        let isOutdated = outdated.remove(call.origin) != nil
        let refused = Self.credentials(of: call.request)
        if case .success(let request?) = result, !isOutdated { note(request, insteadOf: call.request, at: call.origin) }
        var all = waiting.removeValue(forKey: call.origin) ?? LRUList()
        var steps: [Step] = []
        while let load = all.leastRecentlyUsed, let refusal = all.remove(load) {
            origins[load] = nil
            guard isWaiting(load) else { continue }
            let isAnswered = !isOutdated && Self.credentials(of: refusal.request) == refused
            steps.append(isAnswered ? step(for: refusal, after: call, with: result) : self.refused(refusal))
        }
        return steps
    }

    /// What a load does that was refused with the same credentials as that of a call.
    private mutating func step(
        for refusal: Refusal, after call: Call, with result: Result<URLRequest?, any Error>
    ) -> Step {
        switch result {
        case .success(let request?) where refusal.load == call.load: .send(refusal.load, request)
        // A token in the URL or in the body is of no use to another load, which gets a call of its own.
        case .success(_?): refused(refusal)
        case .success(nil): .fail(refusal.load, refusal.error)
        case .failure(let error): .fail(refusal.load, .hookFailed(error, refusal.error.context))
        }
    }

    /// Forgets all credentials, as after a log-out, also those that a running call will return.
    mutating func forgetReplacements() {
        replacements = LRUList()
        outdated = Set(waiting.keys)
    }

    private mutating func note(_ request: URLRequest, insteadOf refused: URLRequest, at origin: String) {
        let (old, new) = (Self.fields(of: refused), Self.fields(of: request))
        let changed = Set(old.keys).union(new.keys).filter { old[$0] != new[$0] }
        let credentials = changed.filter(CacheRules.isSecret)
        // If no field is known to be a credential, the server knows better.
        let names = credentials.isEmpty ? changed : credentials
        guard !names.isEmpty || request == refused else { return }  // only the URL or the body has changed
        let change = Replacement(
            number: count, refused: Self.credentials(of: refused),
            old: Dictionary(uniqueKeysWithValues: names.map { ($0, old[$0]) }),
            new: Dictionary(uniqueKeysWithValues: names.map { ($0, new[$0]) }))
        var list = replacements[origin] ?? []
        // Credentials that are valid again are not replaced any more; otherwise replacements could form a cycle.
        list.removeAll { $0.applies(to: refused) || (!$0.old.isEmpty && $0.applies(to: request)) }
        list.append(change)
        replacements.insert(list.suffix(Self.maximumReplacements), for: origin)
        if replacements.count > Self.maximumOrigins, let oldest = replacements.leastRecentlyUsed {
            replacements.remove(oldest)
        }
    }

    /// The request with the newest credentials; nil if its own were not replaced.
    private func replaced(_ refusal: Refusal) -> URLRequest? {
        guard let list = replacements[refusal.origin] else { return nil }
        var request = refusal.request
        var isReplaced = false
        for change in list where change.applies(to: request) {
            // A call may change no field, for example if it logs in by a cookie. It helps only requests sent before it ended.
            if change.old.isEmpty, change.number <= refusal.sentAt { continue }
            for (name, value) in change.new { request.setValue(value, forHTTPHeaderField: name) }
            isReplaced = true
        }
        return isReplaced ? request : nil
    }

    /// The header fields, by their names in lower case.
    private static func fields(of request: URLRequest) -> Fields {
        Dictionary((request.allHTTPHeaderFields ?? [:]).map { ($0.lowercased(), $1) }) { $1 }
    }

    /// The fields that tell users apart. A user name and a password in the URL are what the session sends without `Authorization`.
    private static func credentials(of request: URLRequest) -> Fields {
        var credentials = fields(of: request).filter { CacheRules.identifiesUser($0.key) }
        if credentials["authorization"] == nil, let url = request.url {
            credentials["authorization"] = CacheRules.userInfo(of: url.absoluteString)
        }
        return credentials
    }
}
