public import Foundation

/// The state that is saved between runs, as a small JSON file.
public struct SavedState: Codable, Hashable, Sendable {
    /// The window's size in points.
    public var width = 1_214
    public var height = 800
    /// The scroll position of the grid, in points.
    public var scroll = 0.0
    public var order = Arrangement.asInFeed
    public var theme = Theme.system
    public var showsInspector = false

    /// Light, dark, or the preference of the desktop.
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

    /// Reads the file; the default if it is missing or corrupt.
    public init(from file: URL) {
        let state = (try? Data(contentsOf: file)).flatMap { try? JSONDecoder().decode(SavedState.self, from: $0) }
        self = (state ?? SavedState()).withinReason
    }

    /// Writes the file. Errors are ignored.
    public func write(to file: URL) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        try? FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try? encoder.encode(self).write(to: file, options: .atomic)
    }

    /// The file may have any values.
    private var withinReason: SavedState {
        var state = self
        state.width = min(max(width, 360), 8_000)
        state.height = min(max(height, 300), 8_000)
        state.scroll = scroll.isFinite ? min(max(scroll, 0), 1e7) : 0
        return state
    }
}
