import Foundation

/// Shows what Synchronizer does: the seven passes of a tour, or loads of the URLs on the command line.
@main
struct Demo {
    static func main() async {
        let terminal = Terminal()
        do {
            switch try Arguments(CommandLine.arguments.dropFirst()).task {
            case .tour(let json): try await tour(json: json, terminal: terminal)
            case .load(let urls): exit(await URLReport(terminal).load(urls) ? 0 : 1)
            case .help: terminal.print(Arguments.usage)
            }
        } catch {
            terminal.complain("\(error)")
            exit(1)
        }
    }

    private static func tour(json: URL?, terminal: Terminal) async throws {
        var tour = try Tour(folder: Folder(), terminal: terminal)
        try await tour.run()
        if let json { try tour.report.write(to: json) }
        let broken = tour.report.brokenPromises
        broken.forEach { terminal.complain($0) }
        exit(broken.isEmpty ? 0 : 1)
    }
}

/// The directory of the demo's caches, which are kept between runs, and of its picture.
struct Folder {
    /// The directory. Without `--json`, the demo writes nothing outside of it.
    let url: URL

    /// Creates the directory in the user's directory for caches (`$XDG_CACHE_HOME` or `~/.cache` on Linux).
    init() throws {
        let caches = FileManager.default.urls(for: .cachesDirectory, in: .userDomainMask).first
        url = (caches ?? FileManager.default.temporaryDirectory).appendingPathComponent("synchronizer-demo")
        try FileManager.default.createDirectory(
            at: url, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }

    var cache: URL { url.appendingPathComponent("cache") }

    var contactSheet: URL { url.appendingPathComponent("contact-sheet.png") }
}
