import Foundation

// What is stored, shown while the network is asked: `updates(of:)`.
extension Loader {
    /// Reads and parses what is stored for those parses of the download that want it, while the fetch is not answered.
    func reportStored(of download: Int) {
        let (wanting, handle) = update { $0.takeWantingStored(of: download) }
        guard !wanting.isEmpty, let fetched = handle?.fetch?.storedMeanwhile() else { return }
        for (id, parse) in wanting {
            storedParses.addOperation { self.reportStored(fetched, for: parse, id) }
        }
    }

    private func reportStored(_ fetched: Fetched, for parse: Parse, _ id: Int) {
        guard update({ $0.parses[id] != nil && $0.parses[id]?.outcome == nil }),
            let loaded = try? storedObject(for: parse, fetched)
        else { return }
        let receivers = update { state -> [LoadReceiver] in
            guard let parse = state.parses[id], parse.outcome == nil else { return [] }
            state.parses[id]?.stored = .reported(loaded, body: fetched.body)
            return parse.subscribers.compactMap { state.receivers[$0] }
        }
        receivers.forEach { $0.stored?(loaded) }
    }

    private func storedObject(for parse: Parse, _ fetched: Fetched) throws -> LoadedObject {
        if let key = parse.key, let old = memory.recall(key), old.isMade(from: fetched) {
            return old.reused(for: fetched)
        }
        return try parsed(parse, fetched)
    }
}

extension Loader.State {
    /// Notes that what is stored is wanted; whether nobody wanted it before.
    mutating func want(storedOf parse: Int) -> Bool {
        guard case .unwanted? = parses[parse]?.stored else { return false }
        parses[parse]?.stored = .wanted
        return true
    }

    /// The parses that want it, once the fetch is there to read it.
    fileprivate mutating func takeWantingStored(of download: Int) -> ([(Int, Loader.Parse)], FetchHandle?) {
        guard let record = downloads[download], record.handle.fetch != nil else { return ([], nil) }
        let wanting = record.parses.compactMap { id -> (Int, Loader.Parse)? in
            guard let parse = parses[id], case .wanted = parse.stored else { return nil }
            return (id, parse)
        }
        for (id, _) in wanting { parses[id]?.stored = .underWay }
        return (wanting, record.handle)
    }
}
