import Foundation

extension ReadConnection {
    /// Passes every row of the database to `body`, with its identifier and its time of use: some hundred in one
    /// transaction, so that no writer has to wait for long.
    func forEachRow(_ body: (Decoded, _ id: Int64, _ used: Int64) -> Void) throws(SQLiteFailure) {
        let selection = try database.prepare(Schema.allEntries)
        var last: Int64?
        while true {
            selection.bind(0, last ?? .min)
            let before = last
            while try selection.step() {
                let id = selection.integer(0)
                body(try Self.decode(selection), id, selection.integer(Schema.usedColumn))
                last = max(last ?? id, id)
            }
            if last == before { return }
        }
    }

    /// What SQLite's check says, which reads the whole database; nil if it finds nothing.
    func structuralDamage() throws(SQLiteFailure) -> String? {
        let check = try database.prepare(Schema.integrityCheck)
        guard try check.step() else { return nil }
        let finding = try check.text(0)
        return finding == "ok" ? nil : finding
    }
}
