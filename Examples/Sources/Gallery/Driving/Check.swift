import CGtk
import Foundation
import GTK
import GalleryModel
import ImageResource

/// Checks the gallery without a user. Each step waits only for what a user would see.
@MainActor
struct Check {
    /// The item whose picture the site does not serve at first.
    private static let broken = 4

    let program: Program
    let folder: TemporaryDirectory

    /// A check failed.
    struct Failed: Error, CustomStringConvertible {
        let description: String
    }

    init(program: Program) throws {
        self.program = program
        folder = try TemporaryDirectory()
    }

    func run() async throws {
        defer { folder.remove() }
        guard let site = program.site else { throw Failed(description: "--check needs the sample site") }
        Appearance.setAnimations(false)
        let target = try await brokenTarget(site)
        site.say("fail \(target)")
        let window = try await openFirst()
        try await retryByClick(window, site, target)
        try await wait(for: "the drawing of the picture", seconds: 20) {
            pictures(of: window).count(where: \.value.isColourful) == window.grid.visibleCells.count
        }
        let online = pictures(of: window)
        try await openDetail(window)
        try await showOffline(online, site)
        try await keepState()
        try await scroll()
        print("✔ everything holds")
    }

    /// The URL of the picture that fails.
    private func brokenTarget(_ site: SiteProcess) async throws -> String {
        let session = makeSession("other")
        let feed = try await session.synchronizer.load(session.feed)
        guard feed.items.indices.contains(Self.broken) else { throw Failed(description: "the feed is too short") }
        return "/" + feed.items[Self.broken].url
    }

    func makeSession(_ name: String) -> Session {
        Session(feed: program.feedURL, directory: folder.url.appendingPathComponent(name))
    }

    // MARK: Steps

    private func openFirst() async throws -> GalleryWindow {
        let window = program.open(makeSession("cache"), SavedState())
        try await wait(for: "a window on the screen") { window.window.isMapped }
        report("the window appears")
        try await wait(for: "a first screen") {
            let cells = window.grid.visibleCells
            return cells.count >= 8 && cells.allSatisfy { $0.state == .shown || $0.state == .failed }
        }
        let cells = window.grid.visibleCells
        try checkSizes(of: cells)
        try await wait(for: "the drawing of a first screen", seconds: 20) {
            pictures(of: window).count { $0.key != Self.broken && $0.value.isColourful } == cells.count - 1
        }
        report("the first screen is filled: \(cells.count) cells")
        return window
    }

    /// Checks that processing has cropped each picture to exactly the space of its cell.
    private func checkSizes(of cells: [PhotographCell]) throws {
        for cell in cells where cell.state == .shown {
            let (space, scale) = (PhotographCell.pictureSize, CGFloat(cell.root.scale))
            guard cell.pixelSize == CGSize(width: space.width * scale, height: space.height * scale) else {
                throw Failed(description: "a picture has \(cell.pixelSize) pixels, in a space of \(space) points")
            }
        }
    }

    /// Clicks on the failure button with a pointer.
    private func retryByClick(_ window: GalleryWindow, _ site: SiteProcess, _ target: String) async throws {
        guard let cell = window.grid.visibleCells.first(where: { $0.photograph?.id == Self.broken }),
            cell.state == .failed
        else { throw Failed(description: "the picture that cannot be loaded has no failure picture") }
        report("a picture that fails shows the failure picture")
        site.say("heal \(target)")
        var clicks = 0
        try await wait(for: "the picture that was clicked") {
            if cell.state == .failed, clicks % 200 == 0, let place = cell.retryPlace { Pointer.click(at: place) }
            clicks += 1
            return cell.state == .shown
        }
        guard !window.isDetail else { throw Failed(description: "the click went to the grid") }
        report("a click on it loads it again")
    }

    private func openDetail(_ window: GalleryWindow) async throws {
        window.reload()
        try await wait(for: "the server's answers") {
            window.session.listener.figures.revalidated >= window.grid.visibleCells.count
        }
        report("reloaded, all that is in sight is confirmed by the server")
        window.grid.focus(1)
        try await press("Return", until: "a photograph") { window.isDetail && window.detail.isComplete }
        guard window.detail.position == 1 else { throw Failed(description: "another photograph has opened") }
        try await press("Right", until: "the next one") { window.detail.position > 1 && window.detail.isComplete }
        let last = window.detail.position
        try await press("Escape", until: "the grid again") { !window.isDetail && window.isFilled }
        try await press("Return", until: "the photograph that was seen last") {
            window.isDetail && window.detail.isComplete
        }
        guard window.detail.position == last else { throw Failed(description: "the keyboard has lost its place") }
        try await press("Escape", until: "the grid again") { !window.isDetail && window.isFilled }
        report("by keyboard a photograph opens, gives way to the next, closes, and keeps its place")
        gtk_window_destroy(window.window.cast())
    }

    /// Checks the disk with another synchronizer, which has nothing in memory.
    private func showOffline(_ online: [Int: BitmapImage], _ site: SiteProcess) async throws {
        let before = try site.counts().requests
        let session = makeSession("cache")
        session.isOffline = true
        let window = program.open(session, SavedState())
        try await wait(for: "the first screen, offline") { window.grid.visibleCells.count >= 8 && window.isFilled }
        let requests = try site.counts().requests - before
        guard requests == 0 else { throw Failed(description: "offline, the server saw \(requests) requests") }
        try await wait(for: "the same pictures as before", seconds: 20) { pictures(of: window) == online }
        report("offline it shows the same screen, with 0 requests")
        gtk_window_destroy(window.window.cast())
    }
}
