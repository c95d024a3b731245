import Foundation
import HTTPCaching

// Makes objects out of bodies.
extension Loader {
    func run(_ parse: Parse, _ id: Machine.ParseID, on fetched: Fetched) {
        let (request, key) = (parse.job.request, parse.job.memoryKey)
        parse.previews?.stop()
        let mayBeKept = state.withLock { $0.downloads[parse.download]?.isInvalidated == false }
        let outcome: Outcome
        do {
            let loaded = try reusedObject(for: parse, fetched) ?? parsed(parse, fetched)
            if mayBeKept, let key { memory.remember(key, loaded) }
            outcome = .success(loaded)
        } catch {
            if parse.cancellation?.isCancelled != true { dropStored(fetched.trace.redirects.last, request) }
            outcome = .failure(
                .undecodable(
                    error,
                    .init(url: request.url, trace: fetched.trace, head: fetched.response, body: fetched.body)))
        }
        let isInvalidated = update { state in
            state.note(outcome, of: id)
            state.ended = (id, outcome)
            state.machine.parseEnded(id)
            // What nobody waits for any more could be made invalid unnoticed: it is not kept.
            return state.downloads[parse.download]?.isInvalidated ?? true
        }
        if isInvalidated, mayBeKept, let key { memory.forgetObject(key) }
    }

    /// What has been made invalid (RFC 9111 §4.4): objects in memory, and loads that were asked for before.
    func invalidate(_ keys: Set<String>, besides id: Machine.DownloadID? = nil) {
        // There may be very many loads: their keys are made without the lock. Who asks meanwhile asks after this.
        let loads = state.withLock { state in
            state.downloads.ids.compactMap { id in state.downloads[id].map { (id, $0.job) } }
        }
        let hit = loads.filter { other, job in
            other != id && job.request.url.map { keys.contains(CacheRules.cacheKey(of: $0.absoluteString)) } ?? false
        }
        if !hit.isEmpty { update { state in hit.forEach { state.invalidate($0.0) } } }
        memory.forget(keys)
    }

    /// Everything has been made invalid: nobody joins the loads that are under way, and what they bring is not kept.
    func invalidateAll() {
        update { state in state.downloads.ids.forEach { state.invalidate($0) } }
    }

    func parsed(_ parse: Parse, _ fetched: Fetched) throws -> LoadedObject {
        let begin = time.now
        let flag = parse.cancellation
        let parsed = try ParseCancellation.with({ flag?.isCancelled ?? false }) { try parse.job.parse(fetched.body) }
        var trace = fetched.trace
        trace.parse = max(0, time.now.timeIntervalSince(begin))
        return LoadedObject(
            object: parsed.object, cost: parsed.cost, run: LoadedObject.Run(isPrefetched: parse.isPrefetched),
            bodyDigest: fetched.bodyDigest, head: fetched.response, freshUntil: fetched.freshUntil,
            isForThisLoadOnly: fetched.isForThisLoadOnly,
            trace: trace)
    }

    /// An object that was made from the very same bytes already, shown meanwhile or kept in memory.
    private func reusedObject(for parse: Parse, _ fetched: Fetched) -> LoadedObject? {
        if case .reported(let shown) = parse.stored, shown.value.body == fetched.body {
            return shown.value.object.reused(for: fetched)
        }
        guard let key = parse.job.memoryKey, let old = memory.recall(key), old.isMade(from: fetched) else { return nil }
        return old.reused(for: fetched)
    }

    /// What cannot be parsed is dropped, so that the next load asks the network. After redirects it is stored under
    /// the last target.
    private func dropStored(_ target: URL?, _ request: URLRequest) {
        var stored = request
        if let target { stored.url = target }
        fetcher.removeStored(for: stored)
    }
}
