import Foundation
import SynchronizerSupport

extension ReadConnection {
    /// The file of the body with that identifier; nil if there is no such entry, or its body is in the database.
    func bodyFile(of id: Int64, urlKey: UInt64) throws(SQLiteFailure) -> BodyResult<BodyFile>? {
        let decoded = try inOneState { () throws(SQLiteFailure) -> DecodedRow? in
            let entry = try database.statement(Schema.entry)
            defer { entry.reset() }
            entry.bind(id, at: 0)
            return try entry.step() ? DecodedRow(entry) : nil
        }
        guard let decoded else { return nil }
        guard case .row(let row, let body) = decoded else {
            if locks { return .corrupt }
            throw .changedDuringRead  // a connection with locks reads it again
        }
        guard row.urlKey == urlKey, body.isInFile else { return nil }
        return BodyFiles.openFile(id, expecting: body, in: directory, at: generation.bodies.paths(id))
    }
}
