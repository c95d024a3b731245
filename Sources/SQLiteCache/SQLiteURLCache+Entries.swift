import Foundation
import HTTPCaching
import SynchronizerSupport

extension SQLiteURLCache {
    /// A stored response, without its body.
    public struct Entry: Sendable {
        /// The URL that was requested, without a fragment.
        public let url: String
        /// The method of the request.
        public let method: String
        /// The status code; 0 for a response of a protocol other than HTTP.
        public let status: Int
        /// The fields of the response, in the case in which they were stored.
        public let headers: [String: String]
        /// The request fields that select the response, such as those that its `Vary` names. Credentials are digests.
        public let selectingHeaders: [String: String]
        /// The length of the body, in bytes.
        public let size: Int
        /// When the response was stored or last updated.
        public let stored: Date
        /// When the response was stored or last used, to the minute; nil if only memory has it.
        public let lastUse: Date?
        private let response: StoredResponse

        fileprivate init(_ response: StoredResponse, size: Int, stored: Date, lastUse: Date?) {
            self.response = response
            url = response.url
            method = response.method
            status = response.status
            headers = response.fields.dictionary
            selectingHeaders = response.selectingFields.dictionary
            (self.size, self.stored, self.lastUse) = (size, stored, lastUse)
        }

        /// The value of a field of the response; nil if there is none. Case does not matter.
        public func value(forHTTPHeaderField name: String) -> String? { response.fields[name] }

        /// Seconds for which the response is still fresh at a date; negative if it is stale (RFC 9111 §4.2).
        public func remainingLifetime(at date: Date = Date()) -> TimeInterval {
            -CacheRules().freshness(of: response, at: date).staleness
        }
    }

    /// The stored responses: first those on the disk, oldest first, then those that only memory has, in no particular order.
    ///
    /// ```swift
    /// for await entry in cache.entries where entry.size > 1_000_000 { print(entry.url) }
    /// ```
    ///
    /// The sequence reads some hundred entries at a time, on a background thread. The cache may change while you read. An entry
    /// that exists all the time occurs exactly once. Corrupt entries are left out.
    public var entries: Entries { Entries(cache: cache) }

    /// The sequence of stored responses; see ``entries``.
    public struct Entries: AsyncSequence, Sendable {
        /// A stored response.
        public typealias Element = Entry

        fileprivate let cache: ResponseCache

        /// Starts at the first entry.
        public func makeAsyncIterator() -> Iterator { Iterator(cache: cache) }

        /// Reads the entries in order.
        public struct Iterator: AsyncIteratorProtocol {
            private enum Position {
                case start
                case disk(after: Int64)
                case memory
                case end
            }

            private let cache: ResponseCache
            private var position = Position.start
            /// The entries that have been read, in reverse order.
            private var read: [Entry] = []

            fileprivate init(cache: ResponseCache) {
                self.cache = cache
            }

            /// The next entry; nil at the end, and if the task is cancelled.
            public mutating func next() async -> Entry? {
                while read.isEmpty, !Task.isCancelled {
                    switch position {
                    case .start: await readDisk(after: nil)
                    case .disk(let last): await readDisk(after: last)
                    case .memory:
                        read = cache.memoryOnlyEntries.reversed()
                        position = .end
                    case .end: return nil
                    }
                }
                return Task.isCancelled ? nil : read.popLast()
            }

            private mutating func readDisk(after last: Int64?) async {
                let page = await cache.page(after: last)
                read =
                    page?.entries.reversed().filter { !$0.isDerived }.map {
                        Entry($0.response, size: $0.bodySize, stored: $0.stored, lastUse: $0.lastUse)
                    } ?? []
                position = (page?.last).map { .disk(after: $0) } ?? .memory
            }
        }
    }
}

extension ResponseCache {
    /// Reads on a thread that may wait for the disk. Flushes before the first page, so that the pages contain everything that was
    /// stored before.
    fileprivate func page(after last: Int64?) async -> EntryPage? {
        guard !ForkedProcess.isCurrent else { return nil }
        return await withCheckedContinuation { continuation in
            DispatchQueue.global(qos: .userInitiated).async {
                if last == nil { self.flush() }
                continuation.resume(returning: self.readDisk { try $0.page(after: last) })
            }
        }
    }

    fileprivate var memoryOnlyEntries: [SQLiteURLCache.Entry] {
        guard !ForkedProcess.isCurrent else { return [] }
        let (rows, usesDisk) = state.withLock { ($0.memory.memoryOnlyRows, $0.diskCapacity > 0) }
        return rows.filter { !isRemovedElsewhere($0, usesDisk: usesDisk) }.compactMap { row in
            row.record.decoded.map {
                SQLiteURLCache.Entry(
                    $0.response, size: row.bodySize, stored: Date(milliseconds: row.stored), lastUse: nil)
            }
        }
    }
}
