/// What has come of each check: a table.
struct Report {
    private var rows: [(name: String, checks: [String], misses: [String])] = []

    var isGood: Bool { rows.allSatisfy(\.misses.isEmpty) }

    /// Notes how a check ended: with an error, or well.
    mutating func add(_ name: String, _ check: String, _ error: (any Error)?) {
        if rows.last?.name != name { rows.append((name, [], [])) }
        let last = rows.count - 1
        if !rows[last].checks.contains(check) { rows[last].checks.append(check) }
        if let error { rows[last].misses.append("\(check): \(error)") }
    }

    func print() {
        let width = (rows.map(\.name.count).max() ?? 0) + 2
        for row in rows {
            let name = row.name + String(repeating: " ", count: width - row.name.count)
            Swift.print(row.misses.isEmpty ? "✔ \(name)\(row.checks.joined(separator: ", "))" : "✘ \(name)")
            for miss in row.misses { Swift.print("    \(miss)") }
        }
    }
}

/// What a check throws.
func failure(of check: @Sendable () async throws -> Void) async -> (any Error)? {
    do {
        try await check()
        return nil
    } catch {
        return error
    }
}
