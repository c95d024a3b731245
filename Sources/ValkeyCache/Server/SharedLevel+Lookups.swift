#if Valkey && canImport(CHiredis)
    import Foundation
    import SQLiteCache
    import SynchronizerSupport

    extension SharedLevel {
        /// All entries of a URL, newest first.
        func entries(for url: String) -> [StoredEntry] {
            if let known = localCount(url) {
                let entries = local.entries(for: url)
                if entries.count >= max(1, known) { return count(entries, in: \.localHits) }
            }
            guard let found = ask(url) else {
                return count(answersAlone(url) ? local.entries(for: url) : [], in: \.localHits)
            }
            let copied = found.entries.contains(where: \.isLocal) ? Set(local.copies(of: url).map(\.id)) : []
            let entries = found.entries.filter { !$0.isLocal || copied.contains($0.id) }.map { entry in
                var stored = entry.stored
                if let body = found.body, body.id == entry.id { stored.body = body.data }
                stored.isShared = !entry.isLocal
                return stored
            }
            return count(entries, in: \.sharedHits)
        }

        /// The body of an entry; nil if it is gone, or is another one.
        func body(of entry: StoredEntry) -> Data? {
            if let body = entry.body ?? local.body(of: entry) { return body }
            let found = ask(entry.response.url, wanting: entry.response.variantKey)
            guard let body = found?.body, body.id == entry.id, body.data.count == entry.bodySize else { return nil }
            return body.data
        }

        func cachedResponse(_ lookup: LookupKey) -> CachedURLResponse? {
            let url = lookup.key
            if let known = localCount(url) {
                if let response = local.cachedResponse(for: lookup.request) { return count(response, in: \.localHits) }
                if local.copies(of: url).count >= max(1, known) { return count(nil, in: \.localHits) }
            }
            guard let found = ask(url) else {
                let response = answersAlone(url) ? local.cachedResponse(for: lookup.request) : nil
                return count(response, in: \.localHits)
            }
            for entry in found.entries where entry.record.answers(lookup) {
                guard let body = found.body.flatMap({ $0.id == entry.id ? $0.data : nil }) ?? body(of: entry.stored),
                    let response = entry.record.cachedResponse(to: lookup, body: body)
                else { continue }
                return count(response, in: \.sharedHits)
            }
            return count(nil, in: \.sharedHits)
        }

        private func localCount(_ url: String) -> Int? {
            let key = URLDigest.key(url)
            return coherence.withLock { $0.localCount(key) }
        }

        private func answersAlone(_ url: String) -> Bool {
            let key = URLDigest.key(url)
            return coherence.withLock { $0.answersAlone(key) }
        }

        private func count(_ entries: [StoredEntry], in hits: WritableKeyPath<Counts, Int>) -> [StoredEntry] {
            counts.withLock { $0[keyPath: entries.isEmpty ? \.misses : hits] += 1 }
            return entries
        }

        private func count(
            _ response: CachedURLResponse?, in hits: WritableKeyPath<Counts, Int>
        ) -> CachedURLResponse? {
            counts.withLock { $0[keyPath: response == nil ? \.misses : hits] += 1 }
            return response
        }
    }
#endif
