import Foundation

// What is stored, shown while the network is asked: `updates(of:)`.
extension Loader {
    /// Reads what is stored for those parses of the download that want it, while the fetch is not answered.
    func reportStored(of download: Machine.DownloadID) {
        let (wanting, handle) = update { $0.takeWantingStored(of: download) }
        guard !wanting.isEmpty else { return }
        let fetched = handle?.fetch?.storedMeanwhile().map(Boxed.init)
        update { state in wanting.forEach { state.noteRead(fetched, for: $0) } }
    }

    /// Shows the object, and only then lets the parse of the answer begin: so it can tell that nothing has changed.
    func runStored(_ parse: Parse, _ id: Machine.ParseID, on fetched: Fetched) {
        let object = try? storedObject(for: parse, fetched)
        let receivers = update { state -> [LoadReceiver] in
            guard state.parses[id] != nil else { return [] }
            state.parses[id]?.stored =
                object.map { .reported(Boxed(StoredPhase.Shown(object: $0, body: fetched.body))) } ?? .unwanted
            return state.receivers(of: id)
        }
        if let object { receivers.forEach { $0.stored?(object) } }
        update { $0.machine.storedEnded(id) }
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
        [Loader.Machine.ParseID], FetchHandle?
    ) {
        guard let record = downloads[download], record.handle?.fetch != nil else { return ([], nil) }
        let wanting = machine.parses(of: download).filter { id in
            guard case .wanted? = parses[id]?.stored else { return false }
            guard machine.expectStored(id) else {
                parses[id]?.stored = .unwanted
                return false
            }
            parses[id]?.stored = .beingRead
            if parses[id]?.cancellation == nil { parses[id]?.cancellation = ParseFlag() }
            return true
        }
        return (wanting, record.handle)
    }

    fileprivate mutating func noteRead(_ fetched: Boxed<Fetched>?, for parse: Loader.Machine.ParseID) {
        guard parses[parse] != nil else { return }
        if let fetched {
            parses[parse]?.stored = .read(fetched)
            machine.storedIsRead(parse)
        } else {
            parses[parse]?.stored = .unwanted
            machine.storedEnded(parse)
        }
    }
}
