import CGtk
import Foundation
import GTK
import GalleryModel

/// Uses the gallery like a user in a hurry, and prints the cost.
@MainActor
struct Measurement {
    let program: Program
    private let folder: TemporaryDirectory
    private let session: Session
    private let log = VisibilityLog()

    init(program: Program) throws {
        self.program = program
        folder = try TemporaryDirectory()
        let options = program.options
        let (command, feed) = options.sizes.site
        program.site?.say(command)
        let url = program.site?.url("/\(feed).json?items=\(options.items)&draw=\(options.draw)")
        session = Session(feed: url ?? program.feedURL, directory: folder.url, baseline: options.baseline)
    }

    func run() async throws {
        defer { folder.remove() }
        program.site?.say("limit \(program.options.bandwidth)")
        Appearance.setAnimations(false)
        var report = Report(program.options)
        report.print()

        let start = g_get_monotonic_time()
        let window = program.open(session, SavedState(), journal: log)
        try await settle(window)
        report.firstScreen = Double(g_get_monotonic_time() - start) / 1_000
        try await Task.sleep(nanoseconds: 1_500_000_000)  // GTK's own start-up is not measured
        report.add("open", FrameStatistics(), log.take())

        try await phase("60 px", &report, window) { await window.scroll(to: { $0.end }, by: 60) }
        try await phase("240 px", &report, window) { await window.scroll(to: { _ in 0 }, by: 240) }
        try await phase("fling", &report, window) { await window.fling(velocity: 600) }
        try await phase("back", &report, window) { await window.fling(velocity: -600) }
        try await openDetails(window, &report)
        for _ in 0..<program.options.passes {
            let isAtTop = window.grid.scroll == 0
            await window.scroll(to: { isAtTop ? $0.end : 0 }, by: 240)
            try await settle(window)
            report.memoryAfterPasses.append(Memory.now)
        }
        gtk_window_destroy(window.window.cast())
        try await relaunch(&report)
        report.finish(session.listener.figures, feedOf: window.photographs.count)
        if let json = program.options.json { try report.write(to: json) }
    }

    private func phase(
        _ name: String, _ report: inout Report, _ window: GalleryWindow, _ move: () async -> FrameStatistics
    ) async throws {
        let frames = await move()
        try await settle(window)
        report.add(name, frames, log.take())
    }

    /// Waits until all visible cells have their pictures.
    private func settle(_ window: GalleryWindow) async throws {
        try await wait(for: "a filled window", seconds: 120) { window.isFilled }
    }

    /// Opens the gallery again, with nothing in memory, in turns with and without derived objects.
    private func relaunch(_ report: inout Report) async throws {
        for round in 0..<12 {
            let derives = round % 2 == 0
            let session = Session(feed: session.feedURL, directory: folder.url, isCold: true, derives: derives)
            let log = FillingLog()
            let window = program.open(session, SavedState(), journal: log)
            try await settle(window)
            report.addRelaunch(log.milliseconds, derives: derives)
            gtk_window_destroy(window.window.cast())
        }
    }

    private func openDetails(_ window: GalleryWindow, _ report: inout Report) async throws {
        var times: [Double] = []
        for number in 0..<10 {
            let start = g_get_monotonic_time()
            window.openDetail(number * 7 % max(1, window.photographs.count))
            try await wait(for: "a photograph") { window.detail.isComplete }
            times.append(Double(g_get_monotonic_time() - start) / 1_000)
            window.closeDetail()
            try await settle(window)
        }
        report.details = times.reduce(0, +) / Double(times.count)
    }
}
