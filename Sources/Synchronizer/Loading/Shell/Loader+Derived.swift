import Foundation

// Objects that are stored next to the response that they were made from.
extension Loader {
    /// An object that was decoded instead of parsed, or that memory has.
    struct Derived: Sendable {
        let object: any Sendable
        /// The checksum of the body that it was made from.
        let checksum: UInt64
        let cost: Int
        let run: LoadedObject.Run
        /// Seconds that the decoding took.
        let time: TimeInterval
    }

    /// Takes the objects that were made from a stored response, from memory or from the store. If the subscribers need nothing
    /// else, the body is not read, and no load coalesces with this one any more.
    func takeObjects(_ offer: StoredOffer, of id: Machine.DownloadID, handle: FetchHandle) {
        let parses = state.withLock { state in
            state.isCurrent(handle, of: id)
                ? state.machine.parses(of: id).compactMap { id in state.parses[id].map { (id, $0) } } : []
        }
        var found: [Machine.ParseID: Derived] = [:]
        for (parse, record) in parses {
            found[parse] = derived(for: record, from: offer)
        }
        let isEnough = state.withLock { state in
            guard state.isCurrent(handle, of: id) else { return false }
            for (parse, _) in parses { state.parses.update(parse) { $0.derived = found[parse].map(Boxed.init) } }
            guard Set(state.machine.parses(of: id)) == Set(found.keys) else { return false }
            state.machine.closeToOthers(id)
            return true
        }
        if isEnough { offer.accept() }
    }

    /// The object if it is stored next to the response. Blocks on the disk.
    func derivedObject(for parse: ParseRecord, from fetched: Fetched) -> LoadedObject? {
        let object = taken(by: parse, for: fetched) ?? fetched.offer.flatMap { derived(for: parse, from: $0) }
        return object.map { loaded($0, from: fetched) }
    }

    /// The object that was taken when it was offered; nil if it was made from another body: if the stored body was gone, the fetch
    /// may have got a new one from the server.
    func taken(by parse: ParseRecord, for fetched: Fetched) -> Derived? {
        parse.derived.flatMap { $0.value.checksum == fetched.bodyChecksum ? $0.value : nil }
    }

    private func derived(for parse: ParseRecord, from offer: StoredOffer) -> Derived? {
        let begin = time.now
        if let key = parse.job.memoryKey, let old = memory.recall(key), old.bodyChecksum == offer.source.checksum {
            return Derived(
                object: old.object, checksum: offer.source.checksum, cost: old.cost, run: old.run, time: 0)
        }
        guard let coding = parse.job.derivedCoding, let data = offer.object(coding.name),
            let decoded = try? coding.decode(data, offer.source.bodySize)
        else { return nil }
        return Derived(
            object: decoded.object, checksum: offer.source.checksum, cost: decoded.cost,
            run: LoadedObject.Run(isPrefetched: parse.isPrefetched),
            time: max(0, time.now.timeIntervalSince(begin)))
    }

    /// The result of a load whose object was derived.
    private func loaded(_ derived: Derived, from fetched: Fetched) -> LoadedObject {
        var trace = fetched.trace
        trace.parse = derived.time
        trace.isDerived = true
        return LoadedObject(
            object: derived.object, cost: derived.cost, run: derived.run, from: fetched, trace: trace)
    }

    /// Stores an object soon, if its parse took long, it is small, and few other objects wait to be stored. If its response has
    /// been removed by then, the store refuses the object.
    func keepObject(_ loaded: LoadedObject, of parse: ParseRecord, from fetched: Fetched) {
        guard let rules = derivedObjects, let entry = fetched.entry, fetched.response.status == 200,
            !loaded.trace.isDerived, let time = loaded.trace.parse, time >= rules.minimumParseTime,
            let checksum = loaded.bodyChecksum, loaded.cost <= rules.maximumSize, let coding = parse.job.derivedCoding
        else { return }
        let source = DerivedSource(entry: entry, checksum: checksum, bodySize: fetched.storedBytes.count)
        storing.add(loaded.cost) { [fetcher, object = loaded.object] in
            guard let data = try? coding.encode(object), rules.accepts(data, from: source.bodySize) else { return }
            fetcher.keepObject(data, as: coding.name, of: source)
        }
    }
}
