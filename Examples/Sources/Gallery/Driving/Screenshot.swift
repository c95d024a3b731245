import Foundation
import GTK
import GalleryModel
import ImageResource

extension Program {
    /// Waits until the window is complete, and writes a picture of it.
    func takeScreenshot(_ file: String) async throws {
        let folder = try TemporaryDirectory()
        defer { folder.remove() }
        Appearance.setAnimations(false)
        Appearance.setFont("Cantarell 11")
        var state = SavedState()
        state.theme = options.isDark == true ? .dark : .light
        state.showsInspector = options.showsInspector
        if let size = options.size { (state.width, state.height) = size }
        let window = open(Session(feed: feedURL, directory: folder.url), state)
        try await wait(for: "a filled window") { window.isFilled }
        if options.showsInspector { try await scrollAround(window) }
        if let detail = options.detail {
            window.openDetail(detail)
            try await wait(for: "a photograph") { window.detail.isComplete }
        }
        try await Task.sleep(nanoseconds: 600_000_000)  // hover, focus and layout settle
        window.inspector.refresh()
        guard let picture = WindowPicture.of(window.window) else { throw NeverHappened(what: "a picture", seconds: 0) }
        let data = file.hasSuffix(".png") ? picture.pngData() : picture.jpegData(compressionQuality: 0.88)
        try data?.write(to: URL(fileURLWithPath: file))
    }

    /// Scrolls around, to produce figures for the inspector.
    private func scrollAround(_ window: GalleryWindow) async throws {
        for place in [900, 6_000, 900, 0] {
            let goal = min(Double(place), window.grid.end)
            while abs(window.grid.scroll - goal) > 1 {
                window.grid.scroll += max(-120, min(120, goal - window.grid.scroll))
                try await Task.sleep(nanoseconds: 16_000_000)
            }
        }
        try await wait(for: "a filled window") { window.isFilled }
        window.session.synchronizer.removeAllObjects()
        let cells = window.grid.visibleCells
        cells.forEach { $0.refresh() }
        try await wait(for: "the pictures from the disk") { window.session.listener.figures.fromDisk >= cells.count }
        window.reload()
        try await wait(for: "the server's answers") { window.session.listener.figures.revalidated >= cells.count }
    }
}
