import CGtk
import Foundation
import GTK
import GalleryModel

/// A photo gallery in GTK 4 that uses the Synchronizer library. `Options.help` lists its options.
@main
enum Gallery {
    /// Not asynchronous, because the main actor runs on this thread, which waits in GLib's loop.
    @MainActor
    static func main() {
        if CommandLine.arguments.contains("--help") { return print(Options.help) }
        do {
            let arguments = Array(CommandLine.arguments.dropFirst())
            if arguments.first == "--table" { return try Comparison(files: Array(arguments.dropFirst())).print() }
            let options = try Options(arguments)
            exit(try Program(options).run())
        } catch let misuse as Options.Misuse {
            print(misuse.words, Options.help, separator: "\n")
            exit(2)
        } catch {
            print("The gallery can't start: \(error)")
            exit(1)
        }
    }
}

/// The application, in its interactive and its unattended modes.
@MainActor
final class Program {
    let options: Options
    let site: SiteProcess?
    let feedURL: URL
    private let application: OpaquePointer?
    /// The exit code.
    var code: Int32 = 0
    private var window: GalleryWindow?

    /// The port of the interactive site. A cache is keyed by URL, which contains the port.
    private static let usualPort = 41_731

    init(_ options: Options) throws {
        self.options = options
        MainLoop.adoptMainQueue()
        if let feed = options.feed {
            (site, feedURL) = (nil, feed)
        } else {
            let site = try SiteProcess(port: options.mode == .interactive ? Self.usualPort : 0)
            (self.site, feedURL) = (site, site.url("/gallery.json?items=\(options.items)"))
        }
        application = gtk_application_new("synchronizer.Gallery", G_APPLICATION_NON_UNIQUE).map { OpaquePointer($0) }
    }

    /// Runs until the last window closes, or the work is done.
    func run() -> Int32 {
        application?.on("activate") { [weak self] in self?.begin() }
        g_application_run(application?.cast(), 0, nil)
        site?.stop()
        return code
    }

    private func begin() {
        Appearance.add(css: Style.css)
        switch options.mode {
        case .interactive: openWindow()
        case .screenshot(let file): perform { try await $0.takeScreenshot(file) }
        case .frames(let folder): perform { try await $0.recordAnimation(into: folder) }
        case .check: perform { try await Check(program: $0).run() }
        case .measure: perform { try await Measurement(program: $0).run() }
        }
    }

    /// Works without a user, and then quits.
    private func perform(_ work: @escaping @MainActor (Program) async throws -> Void) {
        g_application_hold(application?.cast())
        Task {
            do {
                try await work(self)
            } catch {
                print("✘ \(error)")
                code = 1
            }
            g_application_quit(application?.cast())
        }
    }

    private func openWindow() {
        let session = Session(feed: feedURL)
        session.isOffline = options.isOffline
        var state = SavedState(from: SavedState.standardFile)
        if let isDark = options.isDark { state.theme = isDark ? .dark : .light }
        if let size = options.size { (state.width, state.height) = size }
        if options.showsInspector { state.showsInspector = true }
        open(session, state, stateFile: SavedState.standardFile)
    }

    /// Opens a window, and keeps it until the next one opens.
    @discardableResult
    func open(
        _ session: Session, _ state: SavedState, stateFile: URL? = nil, journal: (any CellJournal)? = nil
    ) -> GalleryWindow {
        let window = GalleryWindow(
            application: application, session: session, state: state, stateFile: stateFile, journal: journal)
        self.window = window
        window.open()
        return window
    }
}
