import Foundation
import GTK
import GalleryModel
import ImageResource

/// Takes pictures of a window at a steady rate, as the frames of an animation.
@MainActor
private final class Film {
    static let framesPerSecond = 8
    private let window: GalleryWindow
    private let folder: URL
    private var count = 0
    private var taking: Task<Void, any Error>?

    init(_ window: GalleryWindow, folder: URL) {
        self.window = window
        self.folder = folder
    }

    func begin() {
        let interval = UInt64(1_000_000_000 / Self.framesPerSecond)
        taking = Task { [weak self] in
            while !Task.isCancelled {
                try self?.takeFrame()
                try await Task.sleep(nanoseconds: interval)
            }
        }
    }

    func end() {
        taking?.cancel()
    }

    private func takeFrame() throws {
        window.inspector.refresh()
        guard let picture = WindowPicture.of(window.window), let data = picture.pngData() else { return }
        count += 1
        try data.write(to: folder.appendingPathComponent(String(format: "%03d.png", count)))
    }
}

extension Program {
    /// Writes numbered frames to a folder while the gallery fills, is flung through, shows the inspector and opens a photograph.
    func recordAnimation(into path: String) async throws {
        let folder = try TemporaryDirectory()
        defer { folder.remove() }
        Appearance.setAnimations(false)
        Appearance.setFont("Cantarell 11")
        site?.say("limit \(options.bandwidth / 8)")
        var state = SavedState()
        state.theme = options.isDark == true ? .dark : .light
        (state.width, state.height) = options.size ?? (720, 480)
        let window = open(Session(feed: feedURL, directory: folder.url), state)
        try await wait(for: "the list") { !window.photographs.isEmpty && window.window.isMapped }
        let film = Film(window, folder: URL(fileURLWithPath: path, isDirectory: true))
        film.begin()
        try await wait(for: "a filled window") { window.isFilled }
        await window.fling(velocity: 60)
        try await wait(for: "a filled window after the fling") { window.isFilled }
        window.inspector.isOpen = true
        try await Task.sleep(nanoseconds: 700_000_000)
        await window.fling(velocity: -40)
        try await Task.sleep(nanoseconds: 700_000_000)
        window.inspector.isOpen = false
        window.openDetail(5)
        try await wait(for: "a photograph") { window.detail.isComplete }
        try await Task.sleep(nanoseconds: 1_200_000_000)
        film.end()
    }
}
