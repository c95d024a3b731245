import Foundation
import HTTPCaching

/// Where a URL's bodies are written while they arrive: into files of the cache. If the cache does not take a body, it is written
/// beside its destination, or, without a destination, into a temporary file.
struct BodyPlaces: Sendable {
    let store: (any BodyFileStore)?
    let target: FileTarget
    let cacheKey: String
    /// Returns the file system of a path. Tests replace it.
    var volume: @Sendable (_ path: String) -> Volume? = { Volume(of: $0) }

    private var besides: PartialFiles? {
        target.destination.flatMap { $0.isFileURL ? PartialFiles(besides: $0.path) : nil }
    }

    /// - Parameter isCoalesced: Whether other loads want the body. They must not fail because of this destination.
    func begin(resumable: StoredResponse?, length: Int?, isCoalesced: Bool) throws -> PartialFile {
        try store?.makePartial(for: cacheKey, resumable: resumable, length: length)
            ?? beginOutside(resumable: resumable, length: length, isCoalesced: isCoalesced)
    }

    private func beginOutside(resumable: StoredResponse?, length: Int?, isCoalesced: Bool) throws -> PartialFile {
        if let besides {
            do {
                return try PartialFile(in: besides, for: cacheKey, resumable: resumable, length: length)
            } catch {
                guard isCoalesced else { throw error }
            }
        }
        return try PartialFile(in: .temporary, for: cacheKey, resumable: nil, length: length)
    }

    /// The beginnings of bodies that earlier loads have kept.
    ///
    /// Also removes what killed processes have left beside the destination. So each load to it that needs the server must call
    /// this or `sweep()`, and once is enough.
    func kept() -> [KeptPartial] { (store?.keptPartials(for: cacheKey) ?? []) + (besides?.kept(for: cacheKey) ?? []) }

    func sweep() { besides?.sweep() }

    /// Throws if there is no space for the rest of a body of that length. If the destination is on another file system, it will be
    /// a copy of the file: then this also throws if there is no space for that copy.
    ///
    /// - Parameter isCoalesced: Whether other loads want the body. They must not fail because of this destination.
    func checkSpace(for length: Int, in file: PartialFile, isCoalesced: Bool) throws(FileError) {
        guard let arrival = volume(file.place.folder) else { return }
        if length - file.count > arrival.freeBytes { throw FileError(.noSpace, at: file.path) }
        guard !isCoalesced, let besides, let destination = target.destination, let end = volume(besides.folder),
            end.id != arrival.id, length > end.freeBytes
        else { return }
        throw FileError(.noSpace, at: destination.path)
    }

    /// The error that callers get: it names the destination instead of the hidden file beside it.
    func naming(_ error: any Error) -> any Error {
        guard let besides, let destination = target.destination, let error = error as? FileError,
            besides.contains(path: error.path)
        else { return error }
        return FileError(error.reason, at: destination.path, code: error.code)
    }

    /// Makes room for a body of one of these lengths. If the cache takes none of them, the body continues in a file outside of the
    /// cache.
    func grow(
        _ file: PartialFile, toOneOf lengths: Int..., resumable: StoredResponse?, isCoalesced: Bool
    ) throws -> PartialFile {
        if let store, lengths.contains(where: { store.grow(file, to: $0) }) { return file }
        let other = try beginOutside(resumable: resumable, length: nil, isCoalesced: isCoalesced)
        try other.append(contentsOf: file)
        file.drop()
        return other
    }
}
