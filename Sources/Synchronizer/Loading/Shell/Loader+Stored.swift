import Foundation

// The stored response, shown while the server is asked, for `updates(of:)`.
extension Loader {
    /// Reads the stored response for the parses of the download that want it, unless the body of the download has arrived.
    ///
    /// - Parameter fetch: the fetch that is about to begin; without one, the fetch in flight.
    func reportStored(of download: Machine.DownloadID, from fetch: (any Fetch)? = nil) {
        guard let fetch = fetch ?? state.withLock({ $0.downloads[download]?.handle?.fetch }) else { return }
        let wanting = update { $0.takeWantingStored(of: download) }
        guard !wanting.isEmpty else { return }
        let fetched = fetch.provisional().map(Boxed.init)
        update { state in wanting.forEach { state.noteRead(fetched, for: $0) } }
    }

    /// Parses and shows the stored response. Only then may the parse of the downloaded body begin: it reuses the object if the
    /// bytes are the same.
    func parseStored(_ id: Machine.ParseID, parse: ParseRecord, of fetched: Fetched) {
        let object = try? storedObject(for: parse, from: fetched)
        let receivers = update { state -> [LoadReceiver] in
            guard state.parses[id] != nil else { return [] }
            let shown = object.map { StoredCopy.reported(Boxed(.init(object: $0, body: fetched.body))) }
            state.parses.update(id) { $0.stored = shown ?? .unwanted }
            return state.receivers(of: id)
        }
        if let object { receivers.forEach { $0.report(.stored(object)) } }
        update { $0.machine.storedEnded(id) }
    }

    private func storedObject(for parse: ParseRecord, from fetched: Fetched) throws -> LoadedObject {
        if !parse.job.isOfHead, let key = parse.job.memoryKey, let old = memory.recall(key), old.isMade(from: fetched) {
            return old.reused(for: fetched)
        }
        return try derivedObject(for: parse, from: fetched) ?? parsed(parse, of: fetched)
    }
}

extension Loader.State {
    /// Notes that the stored response is wanted; returns whether it was not wanted before.
    mutating func want(storedOf parse: Loader.Machine.ParseID) -> Bool {
        guard case .unwanted? = parses[parse]?.stored else { return false }
        parses.update(parse) { $0.stored = .wanted }
        if let download = parses[parse]?.download { downloads.update(download) { $0.wantsStored = true } }
        return true
    }

    /// The parses that want the stored response.
    fileprivate mutating func takeWantingStored(of download: Loader.Machine.DownloadID) -> [Loader.Machine.ParseID] {
        machine.parses(of: download).filter { id in
            guard case .wanted? = parses[id]?.stored else { return false }
            guard machine.expectStored(id) else {
                parses.update(id) { $0.stored = .unwanted }
                return false
            }
            parses.update(id) { parse in
                parse.stored = .reading
                parse.cancellation = parse.cancellation ?? ParseFlag()
            }
            return true
        }
    }

    fileprivate mutating func noteRead(_ fetched: Boxed<Fetched>?, for parse: Loader.Machine.ParseID) {
        guard parses[parse] != nil else { return }
        if let fetched {
            parses.update(parse) { $0.stored = .read(fetched) }
            machine.storedIsRead(parse)
        } else {
            parses.update(parse) { $0.stored = .unwanted }
            machine.storedEnded(parse)
        }
    }
}
