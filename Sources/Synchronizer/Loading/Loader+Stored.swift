import Foundation

// What is stored, shown while the network is asked: `updates(of:)`.
extension Loader {
    /// Reads and parses what is stored for those parses of the download that want it, while the fetch is not answered.
    func reportStored(of download: Machine.DownloadID) {
        let (wanting, handle) = update { $0.takeWantingStored(of: download) }
        guard !wanting.isEmpty else { return }
        let fetched = handle?.fetch?.storedMeanwhile()
        for (id, parse) in wanting {
            guard let fetched else {
                endStored(of: id, nil)
                continue
            }
            storedParses.addOperation {
                let isWanted = self.update { $0.parses[id] != nil }
                let loaded = isWanted ? try? self.storedObject(for: parse, fetched) : nil
                self.endStored(of: id, loaded.map { ($0, fetched.body) })
            }
        }
    }

    /// Shows the object, and only then lets the parse of the answer begin if it has had to wait: so it can tell that
    /// nothing has changed.
    private func endStored(of id: Machine.ParseID, _ stored: (object: LoadedObject, body: Data)?) {
        let receivers = update { state -> [LoadReceiver] in
            guard state.parses[id] != nil else { return [] }
            state.parses[id]?.stored =
                stored.map { .reported(Boxed(StoredPhase.Shown(object: $0.object, body: $0.body))) } ?? .unwanted
            return stored == nil ? [] : state.receivers(of: id)
        }
        if let stored { receivers.forEach { $0.stored?(stored.object) } }
        update { $0.endWaitingForStored(id) }
    }

    private func storedObject(for parse: Parse, _ fetched: Fetched) throws -> LoadedObject {
        if let key = parse.job.memoryKey, let old = memory.recall(key), old.isMade(from: fetched) {
            return old.reused(for: fetched)
        }
        return try parsed(parse, fetched)
    }
}

extension Loader.State {
    /// Notes that what is stored is wanted; whether nobody wanted it before.
    mutating func want(storedOf parse: Loader.Machine.ParseID) -> Bool {
        guard case .unwanted? = parses[parse]?.stored else { return false }
        parses[parse]?.stored = .wanted
        if let download = parses[parse]?.download { downloads[download]?.wantsStored = true }
        return true
    }

    /// The parses that want it, once the fetch is there to read it.
    fileprivate mutating func takeWantingStored(of download: Loader.Machine.DownloadID) -> (
        [(Loader.Machine.ParseID, Loader.Parse)], FetchHandle?
    ) {
        guard let record = downloads[download], record.handle?.fetch != nil else { return ([], nil) }
        let wanting = machine.parses(of: download).compactMap { id -> (Loader.Machine.ParseID, Loader.Parse)? in
            guard case .wanted? = parses[id]?.stored else { return nil }
            parses[id]?.stored = .underWay
            if parses[id]?.cancellation == nil { parses[id]?.cancellation = ParseFlag() }
            return parses[id].map { (id, $0) }
        }
        return (wanting, record.handle)
    }

    /// Whether the parse of the answer has to wait for the parse of what is stored.
    mutating func mustWaitForStored(_ id: Loader.Machine.ParseID) -> Bool {
        guard case .underWay? = parses[id]?.stored else { return false }
        parses[id]?.isWaitingForStored = true
        return true
    }

    fileprivate mutating func endWaitingForStored(_ id: Loader.Machine.ParseID) {
        guard parses[id]?.isWaitingForStored == true else { return }
        parses[id]?.isWaitingForStored = false
        if let effect = parseEffect(of: id) { extraEffects.append(effect) }
    }
}
