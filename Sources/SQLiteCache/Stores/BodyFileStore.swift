import Foundation
import HTTPCaching

/// A body that is not necessarily in memory.
package enum StoredBytes: Sendable {
    case data(Data)
    case file(BodyFile)

    package var count: Int {
        switch self {
        case .data(let data): data.count
        case .file(let file): file.count
        }
    }

    /// Does not keep a body that the cache has not taken: nothing needs it any more.
    package func drop() {
        if case .file(let file) = self { file.drop() }
    }
}

/// A store whose bodies may arrive in files, as the layer Fetching sees it. All calls may wait for the disk.
package protocol BodyFileStore: ResponseStore {
    /// Makes a file for an incoming body; nil if the store does not take the body.
    ///
    /// - Parameters:
    ///   - resumable: the response, if the rest of its body can be requested later.
    ///   - length: the length of the body; nil if it is not known.
    func makePartial(for url: String, resumable: StoredResponse?, length: Int?) -> PartialFile?

    /// Makes room for more bytes of an incoming body; returns whether the store takes a body of that length.
    func grow(_ partial: PartialFile, to length: Int) -> Bool

    /// The partial bodies that were kept for a URL.
    func keptPartials(for url: String) -> [KeptPartial]

    /// Removes the partial bodies of a URL, including those that are arriving.
    func removePartials(for url: String)

    /// Stores a response whose body has arrived; returns the identifier of its entry. Nil if the store does not take the file, for
    /// example because it is small.
    func store(_ response: StoredResponse, as cached: CachedURLResponse, file: BodyFile) -> Int64?

    /// The body of an entry: as data if it is small or not yet written, otherwise as a file; nil if it is gone.
    func bytes(of entry: StoredEntry) -> StoredBytes?
}

extension SQLiteURLCache: BodyFileStore {
    package func makePartial(for url: String, resumable: StoredResponse?, length: Int?) -> PartialFile? {
        cache.makePartial(for: url, resumable: resumable, length: length)
    }

    package func grow(_ partial: PartialFile, to length: Int) -> Bool { cache.grow(partial, to: length) }

    package func keptPartials(for url: String) -> [KeptPartial] { cache.kept(for: url) }

    package func removePartials(for url: String) { cache.removePartials(for: url) }

    package func store(_ response: StoredResponse, as cached: CachedURLResponse, file: BodyFile) -> Int64? {
        guard cached.storagePolicy == .allowed, file.count > StoredBody.largestInDatabase,
            let fence = cache.fence(for: response)
        else { return nil }
        let id = MonotonicID.next()
        return cache.store(StoredRecord(response, with: cached), file: file, id: id, fence: fence) ? id : nil
    }

    package func bytes(of entry: StoredEntry) -> StoredBytes? {
        if let body = entry.body { return .data(body) }
        guard entry.bodySize > StoredBody.largestInDatabase else { return body(of: entry).map(StoredBytes.data) }
        let url = entry.response.url
        if let file = cache.bodyFile(of: entry.id, url: url) { return .file(file) }
        // Not from the disk: a file that can't be opened at the moment may be larger than memory.
        return cache.body(of: entry.id, url: url, fromDisk: false).map(StoredBytes.data)
    }
}
