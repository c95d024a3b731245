import Foundation

extension WriteConnection {
    /// Removes the rows that a statement of `Schema.victims` finds; returns how many.
    @discardableResult
    func removeAll(_ sql: String, _ parameters: Int64..., except kept: Int64? = nil) throws(SQLiteFailure) -> Int {
        let selection = try statement(sql)
        for (index, parameter) in parameters.enumerated() { selection.bind(index, parameter) }
        var victims: [(id: Int64, file: BodyFile?)] = []
        while try selection.step() {
            let body = StoredBody(
                length: Int(clamping: selection.integer(1)), digest: UInt64(bitPattern: selection.integer(2)),
                file: selection.isNull(3) ? nil : selection.integer(3))
            victims.append((selection.integer(0), body.bodyFile))
        }
        for victim in victims where victim.id != kept {
            try statement(Schema.deleteEntry).run(victim.id)
            if let file = victim.file {
                try removeFileIfUnused(file)
            } else {
                try statement(Schema.deleteBody).run(victim.id)
            }
        }
        return victims.count
    }

    /// The file goes while the transaction holds the lock, so that no other process can begin to use it meanwhile. If
    /// the transaction should fail after that, its row has no body, and is dropped when it is asked for.
    private func removeFileIfUnused(_ file: BodyFile) throws(SQLiteFailure) {
        let use = try statement(Schema.fileUse)
        for (index, parameter) in [Int64(bitPattern: file.digest), Int64(file.length), file.number].enumerated() {
            use.bind(index, parameter)
        }
        let isUsed = try use.step()
        use.reset()
        if !isUsed { unlink(file.path(in: directory)) }
    }

    func removeEverything() throws(SQLiteFailure) {
        try database.execute(Schema.deleteAll)
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory.bodies)) ?? []
        for name in names where !PreparedBody.isTemporary(name) { unlink(directory.bodies + "/" + name) }
        unlink(directory.setAside)
    }
}
