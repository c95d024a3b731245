import Foundation
import HTTPCaching

// Makes objects from bodies.
extension Loader {
    func parse(_ id: Machine.ParseID, parse: ParseRecord, of fetched: Fetched) {
        let key = parse.job.memoryKey
        parse.previews?.stop()
        let mayBeKept = state.withLock { $0.downloads[parse.download]?.isInvalidated == false }
        let result = result(of: parse, from: fetched)
        if mayBeKept, let key, case .success(let loaded) = result { memory.remember(key, loaded) }
        if mayBeKept, case .success(let loaded) = result { keepObject(loaded, of: parse, from: fetched) }
        let isInvalidated = update { state in
            state.note(result, of: id)
            state.ended = (id, result)
            state.machine.parseEnded(id)
            // An invalidation does not reach a released download, so its object is not kept.
            return state.downloads[parse.download]?.isInvalidated ?? true
        }
        if isInvalidated, mayBeKept, let key, case .success(let loaded) = result { memory.forgetObject(key, loaded) }
    }

    private func result(of parse: ParseRecord, from fetched: Fetched) -> LoadResult {
        let request = parse.job.request
        let context = { (trace: LoadTrace) in
            SynchronizerError.Context(
                url: request.url, trace: trace, head: fetched.response,
                body: fetched.file == nil ? fetched.body : nil)
        }
        guard fetched.storedBytes.count > 0 || taken(by: parse, for: fetched) != nil || parse.job.acceptsEmptyBody
        else {
            return .failure(.noData(context(fetched.trace)))
        }
        do {
            let known = reusedObject(for: parse, from: fetched) ?? derivedObject(for: parse, from: fetched)
            return .success(try known ?? parsed(parse, of: fetched))
        } catch let error as FileError {
            return .failure(.file(error, context(fetched.trace)))  // The stored response is not at fault, and stays.
        } catch {
            var trace = fetched.trace
            if parse.cancellation?.isCancelled != true, parse.job.blamesBody(for: error) {
                removeStored(for: parse.job, redirectedTo: fetched.trace.redirects.last)
                if trace.storing == .stored { trace.storing = .notStored(.undecodable) }
            }
            return .failure(.undecodable(error, context(trace)))
        }
    }

    /// Invalidates cache keys (RFC 9111 §4.4): their objects in memory, and their loads in flight except the given one.
    func invalidate(_ keys: Set<String>, besides id: Machine.DownloadID? = nil) {
        let hit = downloads(of: keys).filter { $0 != id }
        if !hit.isEmpty { update { state in hit.forEach { state.invalidate($0) } } }
        memory.forget(keys)
    }

    /// Forgets the objects of a cache key whose response another process has replaced, also those that are being parsed. A load
    /// without a response gets the new one, so other loads may coalesce with it.
    func forgetObjects(of key: String) {
        let hit = downloads(of: [key])
        if !hit.isEmpty { update { state in hit.forEach { state.forgetObject(of: $0) } } }
        memory.forget([key])
    }

    private func downloads(of keys: Set<String>) -> [Machine.DownloadID] {
        // There may be very many loads, so their keys are made without the lock. Loads that begin in the meantime are newer than
        // the change.
        let loads = state.withLock { state in
            state.downloads.ids.compactMap { id in state.downloads[id].map { (id, $0.job) } }
        }
        return loads.filter { _, job in
            job.request.url.map { keys.contains(CacheRules.cacheKey(of: $0.absoluteString)) } ?? false
        }.map(\.0)
    }

    /// Invalidates everything: no load coalesces with those in flight, and their responses are not kept.
    func invalidateAll() {
        update { state in
            state.removals += 1
            state.authentications.forgetReplacements()
            state.downloads.ids.forEach { state.invalidate($0) }
        }
    }

    func parsed(_ parse: ParseRecord, of fetched: Fetched) throws -> LoadedObject {
        let begin = time.now
        let isCancelled = parse.cancellation.map { flag in { @Sendable in flag.isCancelled } }
        let parsed = try ParseCancellation.with(isCancelled) {
            try parse.job.parse(fetched, stream: parse.stream)
        }
        var trace = fetched.trace
        trace.parse = max(0, time.now.timeIntervalSince(begin)) + (parse.stream?.seconds ?? 0)
        return LoadedObject(
            object: parsed.object, cost: parsed.cost, run: LoadedObject.Run(isPrefetched: parse.isPrefetched),
            from: fetched, trace: trace)
    }

    /// An object made from the same bytes: one shown during the revalidation, or one in memory.
    private func reusedObject(for parse: ParseRecord, from fetched: Fetched) -> LoadedObject? {
        if parse.job.isOfHead { return nil }
        if case .reported(let shown) = parse.stored, parse.derived == nil, shown.value.body == fetched.body {
            return shown.value.object.reused(for: fetched)
        }
        guard let key = parse.job.memoryKey, let old = memory.recall(key), old.isMade(from: fetched) else { return nil }
        return old.reused(for: fetched)
    }

    /// Removes a response that cannot be parsed, so that the next load asks the network. After redirects it is stored under the
    /// last target.
    private func removeStored(for job: LoadJob, redirectedTo target: URL?) {
        var stored = job.request
        if let target { stored.url = target }
        fetcher.removeStored(for: stored, body: job.options.body)
    }
}
