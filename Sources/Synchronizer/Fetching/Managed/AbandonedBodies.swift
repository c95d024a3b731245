import Foundation

/// The bodies of cancelled loads that are still being written. A lookup waits for those of its own URL, so it finds what has
/// arrived of them, and a slow disk holds up no other lookup.
final class AbandonedBodies: Sendable {
    private struct Writes {
        let group = DispatchGroup()
        var count = 0
    }

    private let writes = Locked<[String: Writes]>([:])

    /// Keeps what has arrived of a body.
    func keep(_ sink: BodySink) {
        writes.withLock { writes in
            writes[sink.cacheKey, default: Writes()].count += 1
            writes[sink.cacheKey]?.group.enter()
        }
        sink.abandon { [self, url = sink.cacheKey] in ended(url) }
    }

    private func ended(_ url: String) {
        let group = writes.withLock { writes in
            let group = writes[url]?.group
            writes[url]?.count -= 1
            if writes[url]?.count == 0 { writes[url] = nil }
            return group
        }
        group?.leave()
    }

    /// Blocks until the bodies of a URL that were passed to `keep` before are written.
    func wait(for url: String) { writes.withLock { $0[url]?.group }?.wait() }
}
