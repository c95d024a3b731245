import Foundation
import HTTPCaching

/// Where the files of a URL's bodies are while they arrive: in the cache, or beside the file that they are for if the cache
/// does not take them.
struct BodyPlaces: Sendable {
    let store: (any BodyFileStore)?
    let target: FileTarget
    /// The cache key.
    let url: String
    /// The file system of a path; tests have others.
    var volume: @Sendable (_ path: String) -> Volume? = { Volume(of: $0) }

    private var besides: PartialFiles? {
        target.destination.flatMap { $0.isFileURL ? PartialFiles(besides: $0.path) : nil }
    }

    func begin(resumable: StoredResponse?, length: Int?) throws -> PartialFile {
        try store?.makePartial(for: url, resumable: resumable, length: length)
            ?? beginOutside(resumable: resumable, length: length)
    }

    private func beginOutside(resumable: StoredResponse?, length: Int?) throws -> PartialFile {
        guard let besides else { return try PartialFiles.temporary.make(for: url, resumable: nil, length: length) }
        return try besides.make(for: url, resumable: resumable, length: length)
    }

    /// The kept beginnings.
    func kept() -> [KeptPartial] { (store?.keptPartials(for: url) ?? []) + (besides?.kept(for: url) ?? []) }

    /// Throws if there is no room for the rest of a body of that length, or for the copy that its destination becomes if that is on
    /// another file system.
    ///
    /// - Parameter isShared: Whether other loads want the body, which must not fail because of this destination.
    func checkSpace(for length: Int, in file: PartialFile, isShared: Bool) throws(FileError) {
        guard let arrival = volume(file.place.folder) else { return }
        if length - file.count > arrival.freeBytes { throw FileError(.noSpace, at: file.path) }
        guard !isShared, let besides, let destination = target.destination, let end = volume(besides.folder),
            end.id != arrival.id, length > end.freeBytes
        else { return }
        throw FileError(.noSpace, at: destination.path)
    }

    /// Makes room for a body of one of these lengths. If the cache takes none of them, the body goes on outside of it.
    func grow(_ file: PartialFile, toOneOf lengths: Int..., resumable: StoredResponse?) throws -> PartialFile {
        if let store, lengths.contains(where: { store.grow(file, to: $0) }) { return file }
        let other = try beginOutside(resumable: resumable, length: nil)
        try other.append(contentsOf: file)
        file.drop()
        return other
    }
}
