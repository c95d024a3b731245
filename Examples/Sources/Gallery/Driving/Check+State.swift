import CGtk
import Foundation
import GTK
import GalleryModel

extension Check {
    /// Closes a window, and checks that the next one has its state.
    func keepState() async throws {
        let file = folder.url.appendingPathComponent("state/state.json")
        var state = SavedState()
        (state.width, state.height, state.order) = (990, 700, .title)
        let first = program.open(makeSession("cache"), state, stateFile: file)
        try await wait(for: "a filled window") { first.isFilled && first.grid.end > 3_000 }
        first.grid.scroll = 2_345
        try await wait(for: "the place that was scrolled to") { first.isFilled && first.grid.scroll == 2_345 }
        gtk_window_close(first.window.cast())
        try await wait(for: "a file of what is kept") { SavedState(from: file).scroll == 2_345 }
        let kept = SavedState(from: file)
        guard (kept.width, kept.height, kept.order) == (990, 700, .title) else {
            throw Failed(description: "the file says \(kept)")
        }
        let second = program.open(makeSession("cache"), kept)
        // GTK estimates the heights of unseen rows, and may scroll by a fraction of one.
        try await wait(for: "the place where it was", seconds: 20) {
            second.isFilled && abs(second.grid.scroll - 2_345) < 30
        }
        gtk_window_destroy(second.window.cast())
        report("size, order and place are kept between two runs")
    }
}
