import CGtk
import Foundation
import GTK
import GalleryModel

/// Counts frames while something moves. At other times frames come only when something changes, and none is late.
@MainActor
final class FrameWatch {
    private(set) var statistics = FrameStatistics()
    private let widget: Widget
    private var clock: FrameClock?
    private var movesUntil = 0
    private var isTicking = false

    /// - Parameter widget: the widget whose window is watched as soon as it is on the screen.
    init(_ widget: Widget) {
        self.widget = widget
        widget.on("map") { [weak self] in self?.begin() }
    }

    private func begin() {
        guard clock == nil else { return }
        clock = FrameClock(of: widget)
        clock?.observe { [weak self] frame in
            guard let self else { return }
            guard isTicking else { return statistics.pause() }
            statistics.add(began: frame.began, ended: frame.ended, computed: frame.computed)
        }
    }

    /// Reports a movement that will go on for a moment.
    func moves() {
        movesUntil = g_get_monotonic_time() + 200_000
        guard !isTicking else { return }
        isTicking = true
        widget.onTick { [weak self] in
            guard let self else { return false }
            isTicking = g_get_monotonic_time() < movesUntil
            if !isTicking { statistics.pause() }
            return isTicking
        }
    }

    /// The lines of the inspector.
    var rows: [Figures.Row] {
        [
            Figures.Row(group: "Scrolling", name: "Frames", value: "\(statistics.count)"),
            Figures.Row(group: "Scrolling", name: "Late frames", value: "\(statistics.late)"),
        ]
    }

    /// Starts counting again.
    func reset() {
        statistics = FrameStatistics()
    }
}
