import CGtk
import Foundation

/// How long cells that are in sight wait for their pictures.
@MainActor
final class VisibilityLog: CellJournal {
    struct Waits: Encodable {
        /// Cells that came into sight with their pictures.
        var atOnce = 0
        /// Milliseconds that each of the others waited, if it got its picture while it was in sight.
        var milliseconds: [Double] = []
        /// Cells that left without.
        var leftWithout = 0

        /// The mean of those that waited, in milliseconds.
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

    /// The waits so far; from now on they are counted anew.
    func take() -> Waits {
        defer { waits = Waits() }
        return waits
    }
}
