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
        for name in bodyNames where !PreparedBody.isTemporary(name) { unlink(directory.bodies + "/" + name) }
        unlink(directory.setAside)
    }

    private var bodyNames: [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: directory.bodies)) ?? []
    }

    /// Removes files that no entry has, once in the life of a connection: a process that was killed can leave them.
    func removeStrayFiles() throws {
        if hasLookedForStrayFiles { return }
        hasLookedForStrayFiles = true
        let names = bodyNames
        if names.isEmpty { return }
        // Holding the lock, so that no other process gives a file to an entry meanwhile.
        try transaction {
            for name in names {
                let path = directory.bodies + "/" + name
                if PreparedBody.isTemporary(name) {
                    if PreparedBody.isAbandoned(path) { unlink(path) }
                } else if let file = BodyFile(name: name) {
                    try removeFileIfUnused(file)
                }
            }
        }
    }
}
