#if Valkey && canImport(CHiredis)
    import Foundation
    import SQLiteCache
    import SynchronizerSupport

    extension SharedLevel {
        /// All entries of a URL, newest first.
        func entries(for url: String) -> [StoredEntry] {
            let (key, now) = (URLDigest.key(url), time.now)
            if let known = coherence.withLock({ $0.localCount(key, at: now) }) {
                let entries = local.entries(for: url)
                if entries.count >= max(1, known) { return count(entries, by: .local) }
            }
            guard let found = ask(url) else {
                return count(answersAlone(url) ? local.entries(for: url) : [], by: .local)
            }
            let own = found.entries.contains(where: \.isLocal) ? local.entries(for: url) : []
            let entries = found.entries.compactMap { entry -> StoredEntry? in
                // Another machine may have replaced this machine's response.
                if entry.isLocal, !own.contains(where: { $0.id == entry.id }) {
                    return own.first { $0.response.variantKey == entry.response.variantKey }
                }
                var stored = entry.stored
                if let body = found.body, body.id == entry.id { stored.body = body.data }
                stored.isFromSharedLevel = !entry.isLocal
                return stored
            }
            return count(entries, by: .shared)
        }

        /// The body of an entry; nil if the body is gone or was replaced.
        func body(of entry: StoredEntry) -> Data? {
            if let body = entry.body ?? local.body(of: entry) { return body }
            let found = ask(entry.response.url, wanting: .variant(entry.response.variantKey))
            guard let body = found?.body, body.id == entry.id, body.data.count == entry.bodySize else { return nil }
            return body.data
        }

        func cachedResponse(_ lookup: LookupKey) -> CachedURLResponse? {
            let (url, now) = (lookup.key, time.now)
            if let known = coherence.withLock({ $0.localCount(lookup.urlKey, at: now) }) {
                if let response = local.cachedResponse(lookup, at: now) { return count(response, by: .local) }
                if local.copies(of: url).count >= max(1, known) { return count(nil, by: .local) }
            }
            guard let found = ask(url) else {
                return count(answersAlone(url) ? local.cachedResponse(lookup) : nil, by: .local)
            }
            for entry in found.entries where entry.record.answers(lookup) {
                if entry.isLocal, let response = local.cachedResponse(lookup) { return count(response, by: .local) }
                guard let body = found.body.flatMap({ $0.id == entry.id ? $0.data : nil }) ?? body(of: entry.stored),
                    let response = entry.record.cachedResponse(to: lookup, body: body)
                else { continue }
                return count(response, by: .shared)
            }
            return count(nil, by: .shared)
        }

        private func answersAlone(_ url: String) -> Bool {
            let key = URLDigest.key(url)
            return coherence.withLock { $0.answersAlone(key) }
        }

        private enum Level {
            case local
            case shared
        }

        private func count(_ entries: [StoredEntry], by level: Level) -> [StoredEntry] {
            countLookup(isHit: !entries.isEmpty, by: level)
            return entries
        }

        private func count(_ response: CachedURLResponse?, by level: Level) -> CachedURLResponse? {
            countLookup(isHit: response != nil, by: level)
            return response
        }

        private func countLookup(isHit: Bool, by level: Level) {
            counts.withLock { counts in
                switch (isHit, level) {
                case (false, _): counts.misses += 1
                case (true, .local): counts.localHits += 1
                case (true, .shared): counts.sharedHits += 1
                }
            }
        }
    }
#endif
