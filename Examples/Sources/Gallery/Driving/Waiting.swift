import Foundation

/// An expected condition did not become true in time.
struct NeverHappened: Error, CustomStringConvertible {
    let what: String
    let seconds: Double
    var description: String { "\(what): not within \(Int(seconds)) s" }
}

/// Returns when the condition holds. It is checked every few milliseconds.
@MainActor
func wait(for what: String, seconds: Double = 60, _ condition: () -> Bool) async throws {
    let end = Date(timeIntervalSinceNow: seconds)
    while !condition() {
        guard Date() < end else { throw NeverHappened(what: what, seconds: seconds) }
        try await Task.sleep(nanoseconds: 5_000_000)
    }
}

/// A directory for one run.
struct TemporaryDirectory {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appendingPathComponent("gallery-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    func remove() {
        try? FileManager.default.removeItem(at: url)
    }
}

extension GalleryWindow {
    /// Whether every visible cell has its picture.
    var isFilled: Bool {
        let cells = grid.visibleCells
        return !cells.isEmpty && cells.allSatisfy { $0.state == .shown }
    }
}
