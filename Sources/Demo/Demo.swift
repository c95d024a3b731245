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
