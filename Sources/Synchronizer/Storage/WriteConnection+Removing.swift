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
                orphans.insert(file)
            } else {
                try statement(Schema.deleteBody).run(victim.id)
            }
        }
        return victims.count
    }

    func removeEverything() throws(SQLiteFailure) {
        try database.execute(Schema.deleteAll)
        for name in bodyNames {
            if let file = BodyFile(name: name) { orphans.insert(file) }
        }
        unlink(directory.setAside)
    }

    /// Removes the files whose rows are gone for good. That is a transaction of its own: had it been part of the one
    /// that removed the rows, a kill could leave the rows without their files; and while it holds the lock no other
    /// process can give such a file to a new row. Where another database has taken the place of this one, all files are
    /// that one's.
    func removeOrphans() throws {
        if orphans.isEmpty { return }
        try transaction {
            guard isCurrent else { return }
            for file in orphans where try !isUsed(file) { unlink(file.path(in: directory)) }
        }
        orphans = []
        knownFileBytes = nil
    }

    private func isUsed(_ file: BodyFile) throws(SQLiteFailure) -> Bool {
        let use = try statement(Schema.fileUse)
        defer { use.reset() }
        for (index, parameter) in [Int64(bitPattern: file.digest), Int64(file.length), file.number].enumerated() {
            use.bind(index, parameter)
        }
        return try use.step()
    }

    private var bodyNames: [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: directory.bodies)) ?? []
    }

    /// Removes files that no entry has, once in the life of a connection: a process that was killed can leave them.
    func removeStrayFiles() throws {
        if hasLookedForStrayFiles { return }
        hasLookedForStrayFiles = true
        for name in bodyNames {
            let path = directory.bodies + "/" + name
            if let file = BodyFile(name: name) {
                orphans.insert(file)
            } else if PreparedBody.isTemporary(name), PreparedBody.isAbandoned(path) {
                unlink(path)
            }
        }
        try removeOrphans()
    }
}
