import Foundation

/// Keeps a read transaction open while look-ups follow each other without pause, so that each of them is a fifth faster.
///
/// A read transaction takes a lock of the system on the shared memory, and gives it back: two system calls, under a
/// mutex that all connections of the process share. What this one holds SQLite gives to the others without asking the
/// system (`unixShmLock`). An open transaction may keep checkpoints from ending, in this process and others. Therefore
/// it lasts milliseconds only, and there is none while anybody changes the database.
final class ReadAnchor: @unchecked Sendable {  // its variables are touched on `queue` only
    private let queue = DispatchQueue(label: "SQLiteURLCache.anchor", qos: .utility)
    private let isBusy: @Sendable (_ canHold: Bool) -> Bool
    private var database: Database?
    private var file: DatabaseFile?
    private var isHolding = false
    private var knownDataVersion: Int64?

    private let interval = DispatchTimeInterval.milliseconds(10)

    /// - Parameter isBusy: asked every few milliseconds, until it says that too few look-ups were made meanwhile. Told
    ///   whether there is a database to hold; if there is none, that was the last time, until `begin(_:)`.
    init(isBusy: @escaping @Sendable (_ canHold: Bool) -> Bool) {
        self.isBusy = isBusy
    }

    /// Begins to hold a transaction now and then.
    func begin(_ file: DatabaseFile) {
        queue.async { [self] in
            if file != self.file { letGo() }
            self.file = file
            hold()
        }
    }

    /// Closes the database; returns when that is done.
    func close() {
        queue.sync { letGo() }
    }

    private func hold() {
        guard let file else { return }
        do {
            let database = try self.database ?? Self.open(file)
            self.database = database
            let version = try database.integer(Schema.dataVersion)
            if version == knownDataVersion {
                try database.execute(Schema.beginReading)
                isHolding = true
                _ = try database.integer(Schema.readVersion)  // a transaction begins with the first page that is read
            }
            knownDataVersion = version
        } catch {
            letGo()  // whoever looks something up meets the same, and deals with it
        }
        queue.asyncAfter(deadline: .now() + interval) { [weak self] in self?.tick() }
    }

    private func tick() {
        release()
        let canHold = file != nil
        if isBusy(canHold), canHold { hold() }
    }

    private func release() {
        guard isHolding else { return }
        isHolding = false
        do {
            try database?.execute(Schema.commit)
        } catch {
            letGo()
        }
    }

    private func letGo() {
        (database, file, knownDataVersion, isHolding) = (nil, nil, nil, false)
    }

    private static func open(_ file: DatabaseFile) throws(SQLiteFailure) -> Database {
        let database = try Database(path: file.path, busyTimeout: 0)
        try database.execute(Schema.connection + Schema.reading)
        return database
    }
}
