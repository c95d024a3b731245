public import Foundation

/// What is kept between two runs: a small JSON file.
public struct SavedState: Codable, Hashable, Sendable {
    /// The window's size in points.
    public var width = 1_214
    public var height = 800
    /// How far the grid is scrolled, in points.
    public var scroll = 0.0
    public var order = Arrangement.asInFeed
    public var theme = Theme.system
    public var showsInspector = false

    /// Light, dark, or what the desktop prefers.
    public enum Theme: String, Codable, Sendable, CaseIterable {
        case system, light, dark
    }

    public init() {}

    /// `$XDG_STATE_HOME` or `~/.local/state`, then the program's name.
    public static var standardFile: URL {
        let environment = ProcessInfo.processInfo.environment
        let home = environment["XDG_STATE_HOME"].flatMap { $0.hasPrefix("/") ? URL(fileURLWithPath: $0) : nil }
        let folder = home ?? FileManager.default.homeDirectoryForCurrentUser.appendingPathComponent(".local/state")
        return folder.appendingPathComponent("synchronizer-gallery/state.json")
    }

    /// What the file says; the standard, if there is none or it is damaged.
    public init(from file: URL) {
        let state = (try? Data(contentsOf: file)).flatMap { try? JSONDecoder().decode(SavedState.self, from: $0) }
        self = (state ?? SavedState()).withinReason
    }

    /// Writes it; what cannot be written is not kept.
    public func write(to file: URL) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        try? FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try? encoder.encode(self).write(to: file, options: .atomic)
    }

    /// A file can say anything.
    private var withinReason: SavedState {
        var state = self
        state.width = min(max(width, 360), 8_000)
        state.height = min(max(height, 300), 8_000)
        state.scroll = scroll.isFinite ? min(max(scroll, 0), 1e7) : 0
        return state
    }
}
