import Foundation
import HTTPCaching

extension ResponseCache {
    /// Stores a response.
    ///
    /// - Parameter keepsObject: whether look-ups in memory may return the very object; not so where `record` holds other
    ///   fields than it.
    func store(_ record: StoredRecord, _ cached: CachedURLResponse, keepsObject: Bool) {
        let body = cached.data
        let url = record.response.url
        let id = GrowingID.next()
        change(
            .store(
                StoredRow(
                    id: id, url: url, urlKey: Digest.of(url), revision: id, stored: time.now.milliseconds,
                    record: EncodedRecord(record), variant: record.response.variantKey, bodySize: body.count,
                    body: body,
                    cached: keepsObject ? cached : nil,
                    isMemoryOnly: cached.storagePolicy == .allowedInMemoryOnly)))
    }

    /// Replaces all but the body of a response, if it is still stored.
    func update(_ id: Int64, of url: String, to response: StoredResponse) {
        guard response.url == url, let row = rows(of: url).first(where: { $0.id == id }),
            var record = row.record.decoded
        else { return }
        record.response = response
        change(
            .update(
                RowUpdate(
                    id: id, url: url, urlKey: row.urlKey, record: EncodedRecord(record), variant: response.variantKey,
                    revision: GrowingID.next(), stored: time.now.milliseconds, isMemoryOnly: row.isMemoryOnly)))
    }

    /// What the files take on the disk, and what is about to be written, in bytes.
    var diskUsage: Int {
        guard !Fork.isChild else { return 0 }
        let waiting = state.withLock { $0.log.bodyBytes }
        let files = readDisk { try $0.bodyFileBytes() } ?? 0
        let database = (try? Generation.newest(in: directory))?.allocatedBytes ?? 0
        return Int(clamping: files + database) + waiting
    }
}
