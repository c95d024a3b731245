import CGtk
import Foundation

/// Measures how long visible cells wait for their pictures.
@MainActor
final class VisibilityLog: CellJournal {
    struct Waits: Encodable {
        /// Cells that had their pictures when they became visible.
        var atOnce = 0
        /// The wait in milliseconds of each other cell that got its picture while it was visible.
        var milliseconds: [Double] = []
        /// Cells that became invisible without their pictures.
        var leftWithout = 0

        /// The mean wait, in milliseconds.
        var mean: Double { milliseconds.isEmpty ? 0 : milliseconds.reduce(0, +) / Double(milliseconds.count) }
    }

    private(set) var waits = Waits()
    private var waiting: [ObjectIdentifier: Int] = [:]

    func cellAppeared(_ cell: PhotographCell, at moment: Int) {
        if cell.state == .shown { waits.atOnce += 1 } else { waiting[ObjectIdentifier(cell)] = moment }
    }

    func cellShowed(_ cell: PhotographCell) {
        guard let since = waiting.removeValue(forKey: ObjectIdentifier(cell)) else { return }
        waits.milliseconds.append(Double(g_get_monotonic_time() - since) / 1_000)
    }

    func cellDisappeared(_ cell: PhotographCell) {
        if waiting.removeValue(forKey: ObjectIdentifier(cell)) != nil { waits.leftWithout += 1 }
    }

    /// Returns the waits so far, and starts again.
    func take() -> Waits {
        defer { waits = Waits() }
        return waits
    }
}

/// Measures the time from the first frame with cells until all of them have their pictures.
@MainActor
final class FillingLog: CellJournal {
    private var first: Int?
    private var last = 0

    func cellAppeared(_ cell: PhotographCell, at moment: Int) { first = first ?? moment }
    func cellShowed(_ cell: PhotographCell) { last = Int(g_get_monotonic_time()) }
    func cellDisappeared(_ cell: PhotographCell) {}

    var milliseconds: Double { Double(last - (first ?? last)) / 1_000 }
}
