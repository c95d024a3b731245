import Foundation
import HTTPCaching

// Bodies that go to files.
extension ManagedFetch {
    /// Where the bodies of a URL go; nil if they go to memory.
    func places(for key: String) -> BodyPlaces? {
        options.file.map { BodyPlaces(store: cache.files, target: $0, cacheKey: key) }
    }

    /// Opens the file for the body of the response whose head has arrived, if it is a success.
    func openSink(in number: Int) {
        let (exchange, replaced) = state.withLock { state in
            let running = state?.running(number)
            defer { running?.sink = nil }
            return (running?.exchange, running?.sink)
        }
        if let replaced { cache.abandon(replaced) }
        guard let exchange, exchange.received.isSpooled, exchange.isReportedAsItArrives,
            let sink = sink(for: exchange, number: number)
        else { return }
        let isOpen = state.withLock { state in
            state?.running(number)?.sink = sink
            return state?.running(number) != nil
        }
        guard isOpen else { return cache.abandon(sink) }
        report(.spooling(sink.tap))
        sink.start()
    }

    private func sink(for exchange: Exchange, number: Int) -> BodySink? {
        var places = places(for: exchange.step.cacheRequest.url)
        if exchange.received.head?.isHTTP != true { places = places?.withoutStore }
        if case .complete(let selection, _, _) = exchange.step.decision, let resumption = exchange.resumption,
            case .partial(let partial) = exchange.step.entries[selection.index]
        {
            return places.map {
                sink(in: $0, for: number, continuing: partial, resumable: partial.response, length: resumption.length)
            }
        }
        // If an old beginning stayed until the new body is complete, and the process were killed, the next load would select it
        // again, and start over once more.
        if exchange.received.status == 200 { removeBeginnings(after: exchange) }
        let length = exchange.received.bodyLength
        let resumable = exchange.received.status == 200 ? exchange.resumable(count: 0, of: length) : nil
        return places.map { sink(in: $0, for: number, continuing: nil, resumable: resumable, length: length) }
    }

    private func sink(
        in places: BodyPlaces, for number: Int, continuing kept: KeptPartial?, resumable: StoredResponse?, length: Int?
    ) -> BodySink {
        BodySink(places, continuing: kept, resumable: resumable, length: length) { [weak self] isPaused in
            guard let transfer = self?.transfer(number) else { return false }
            transfer.setPaused(isPaused)
            return true
        } failed: { [weak self] error in
            self?.transfer(number)?.cancel()
            self?.end(number, with: .failure(error))
        }
    }

    private func transfer(_ number: Int) -> (any Transfer)? {
        state.withLock { $0?.running(number)?.exchange.transfer }
    }

    /// Completes an exchange that has ended, once its body is in the file.
    func complete(_ ended: Running) {
        let (exchange, completion) = (ended.exchange, ended.completion)
        guard let sink = ended.sink else {
            guard options.file != nil else { return completion(exchange) }
            // A stored body may be the answer. Verifying a large file takes long, and this thread ends other transfers, too.
            return DispatchQueue.global(qos: .userInitiated).async { completion(exchange) }
        }
        sink.end { result in
            var exchange = exchange
            switch result {
            case .success(let file): exchange.file = file
            case .failure(let error): exchange.end = .failure(error)
            }
            completion(exchange)
        }
    }

    /// The rest of a kept beginning has arrived, in the same file.
    func complete(_ exchange: Exchange, entry: CacheEntry, with combination: Combination) -> Conclusion {
        var step = exchange.step
        guard let partial = exchange.file, partial.count == combination.before.count + exchange.received.count else {
            let error = URLError(.cannotWriteToFile, because: "the downloaded file has an unexpected size")
            return .failure(.transport(error, step.context))
        }
        guard partial.count <= options.maximumBodySize else {
            partial.drop()
            note(.notStored(.tooLarge), in: &step)
            return .failure(.tooLarge(limit: options.maximumBodySize, step.context))
        }
        do {
            let file = try partial.finish()
            removeBeginnings(after: exchange)
            return combined(
                exchange, entry: entry, with: combination, body: Data(), file: file, saved: combination.before.count)
        } catch {
            note(.notStored(.diskFailed), in: &step)
            return .failure(.file(error, step.context))
        }
    }

    /// Removes the beginnings that earlier loads have kept: nothing would continue them any more. Those that other loads continue
    /// stay, and so do those of other variants and users.
    private func removeBeginnings(after exchange: Exchange) {
        for entry in exchange.step.entries {
            if case .partial(let kept) = entry, CacheRules.selects(kept.response, for: exchange.step.cacheRequest) {
                kept.remove()
            }
        }
    }

    /// Keeps the beginning of a body that was cut short, unless it was invalidated.
    func keepFile(of exchange: Exchange) {
        guard let file = exchange.file else { return }
        if cache.invalidations.isInvalid(exchange.step.cacheRequest.url, since: exchange.mark) { file.drop() }
        file.keep()
    }
}

extension Exchange {
    /// Whether the fetch itself has ended the transfer, because it cannot use the body.
    var isGivenUp: Bool {
        if case .failure(let error)? = end, error is FileError || error is BodySink.BeginningIsGone { return true }
        return hasUselessBody
    }
}

extension BodyPlaces {
    /// The same places, but without the cache.
    fileprivate var withoutStore: BodyPlaces { BodyPlaces(store: nil, target: target, cacheKey: cacheKey) }
}
