import Foundation
import HTTPCaching
import SynchronizerSupport

/// A partial body that an earlier load has kept, as its record describes it. Its bytes are verified when it is opened.
package struct KeptPartial: Sendable {
    let place: PartialFiles
    let name: String
    /// The response (status 206), with the part up to the last checkpoint.
    package let response: StoredResponse
    /// The bytes up to the last checkpoint, and their checksum.
    package let count: Int
    let checksum: UInt64
    /// The length of the record up to the last checkpoint.
    let recordLength: Int

    /// Reads a record; nil if it is malformed, if it has no checkpoint, or if no byte of the body is missing.
    init?(in place: PartialFiles, name: String) {
        guard let bytes = FileSystem.contents(of: place.recordPath(name), limit: PartialRecord.largest),
            let (stored, checkpoint, length) = PartialRecord.decode(bytes), checkpoint.count > 0,
            checkpoint.count < stored.part?.completeLength ?? .max
        else { return nil }
        let part = StoredResponse.Part(range: 0..<checkpoint.count, completeLength: stored.part?.completeLength)
        var response = stored
        response.part = part
        response.fields[FieldName.contentRange] = part.contentRange
        response.fields[FieldName.contentLength] = String(checkpoint.count)
        (self.place, self.name, self.response) = (place, name, response)
        (count, checksum, recordLength) = (checkpoint.count, checkpoint.checksum, length)
    }

    /// Whether its record still has the same last checkpoint.
    var isCurrent: Bool {
        let now = KeptPartial(in: place, name: name)
        return now?.count == count && now?.checksum == checksum
    }

    /// Identifies it among all partial bodies.
    package var id: String { place.path(name) }

    /// Removes the file, unless another load has continued it since then.
    package func remove() {
        place.whileIdle(name) { if isCurrent { place.remove(name) } }
    }
}

extension PartialFiles {
    /// The partial bodies that were kept for a URL, the longest first. Beside a destination, first removes what killed processes
    /// have left. Lists the folder only once, because it may be large.
    package func kept(for url: String) -> [KeptPartial] {
        let names = allNames
        if !isCounted { sweep(names) }
        let start = start(for: url)
        let found = names.compactMap { name -> KeptPartial? in
            guard name.hasPrefix(start), name.hasSuffix(Self.recordSuffix) else { return nil }
            let body = String(name.dropLast(Self.recordSuffix.count))
            var kept: KeptPartial?
            whileIdle(body) { kept = KeptPartial(in: self, name: body) }
            return kept?.response.url == url ? kept : nil
        }
        return found.sorted { $0.count > $1.count }
    }

    /// Removes files that a killed process has left and no load can continue: bodies without a record or a checkpoint, and records
    /// without a body.
    package func sweep() { sweep(allNames) }

    private func sweep(_ names: [String]) {
        for name in names {
            if name.hasSuffix(Self.recordSuffix) {
                if FileSystem.status(path(String(name.dropLast(Self.recordSuffix.count)))) == nil { unlink(path(name)) }
            } else if KeptPartial(in: self, name: name) == nil {
                whileIdle(name) {
                    // A process that has just stopped writing may have added to the record.
                    if KeptPartial(in: self, name: name) == nil {
                        FileSystem.remove(path(name))
                        unlink(recordPath(name))
                    }
                }
            }
        }
    }
}
