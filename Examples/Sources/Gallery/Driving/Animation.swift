import Foundation
import GTK
import GalleryModel
import ImageResource

/// The frames of an animation: pictures of a window, each after a step, so that a slow machine drops none.
@MainActor
private final class Film {
    private let window: GalleryWindow
    private let folder: URL
    private var count = 0

    init(_ window: GalleryWindow, folder: URL) {
        self.window = window
        self.folder = folder
    }

    /// Takes frames, a tenth of a second apart, which is as long as each is shown.
    func take(_ frames: Int, step: (Int) -> Void = { _ in }) async throws {
        for frame in 0..<frames {
            step(frame)
            window.frames.reset()  // taking pictures delays frames, which the inspector would count
            window.inspector.refresh()
            try await Task.sleep(nanoseconds: 100_000_000)
            var data: Data?
            // There is no picture while the window is being laid out.
            try await wait(for: "a frame") {
                data = WindowPicture.of(window.window)?.pngData()
                return data != nil
            }
            count += 1
            try data?.write(to: folder.appendingPathComponent(String(format: "%03d.png", count)))
        }
    }

    /// Scrolls as after a fling, which slows down.
    func fling(from velocity: Double, frames: Int) async throws {
        try await take(frames) { [grid = window.grid] in grid.scroll += velocity * pow(0.85, Double($0)) }
    }
}

extension Program {
    /// Writes numbered frames to a folder while the gallery fills, is flung through, shows the inspector and opens a photograph.
    func recordAnimation(into path: String) async throws {
        let folder = try TemporaryDirectory()
        defer { folder.remove() }
        Appearance.setAnimations(false)
        Appearance.setFont("Cantarell 11")
        site?.say("limit 600000")  // slow enough for visible placeholders
        var state = SavedState()
        state.theme = options.isDark == true ? .dark : .light
        (state.width, state.height) = options.size ?? (840, 520)
        let window = open(Session(feed: feedURL, directory: folder.url), state)
        try await wait(for: "the list") { !window.photographs.isEmpty && window.window.isMapped }
        let film = Film(window, folder: URL(fileURLWithPath: path, isDirectory: true))
        try await film.take(10)
        try await film.fling(from: 400, frames: 22)
        try await film.take(8)
        window.inspector.isOpen = true
        try await film.take(4)
        try await film.fling(from: -250, frames: 18)
        try await film.take(6)
        window.inspector.isOpen = false
        window.openDetail(2)
        try await film.take(14)
    }
}
