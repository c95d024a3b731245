import Foundation
import ImageResource
import Synchronizer

/// Loads the URLs of the command line, and prints for each where it came from and why.
struct URLReport {
    private let terminal: Terminal
    private let synchronizer: Synchronizer

    init(_ terminal: Terminal) {
        self.terminal = terminal
        var configuration = Synchronizer.Configuration(cacheTime: Tour.day)
        configuration.caching = .managed
        configuration.urlCache = (try? Folder()).map {
            SQLiteURLCache(
                memoryCapacity: 0, diskCapacity: 200 << 20, directory: $0.url.appendingPathComponent("urls"))
        }
        synchronizer = Synchronizer(configuration: configuration)
    }

    /// Loads the URLs, and prints a report on each. Returns false if any load failed.
    func load(_ urls: [URL]) async -> Bool {
        let reports = urls.map { url in Task { await report(on: url) } }
        var allLoaded = true
        for report in reports {
            let (text, isLoaded) = await report.value
            terminal.print(text)
            allLoaded = allLoaded && isLoaded
        }
        return allLoaded
    }

    private func report(on url: URL) async -> (text: String, isLoaded: Bool) {
        do {
            let loaded = try await synchronizer.loaded(DataResource(url: url))
            return ("\(url.absoluteString)\n  \(contents(loaded))\n  \(loaded.trace)", true)
        } catch {
            return ("✘ \(error)", false)
        }
    }

    private func contents(_ loaded: Loaded<Data>) -> String {
        let size = Report.Pass.words(bytes: loaded.object.count)
        let type = loaded.response.mimeType ?? "of no type"
        guard let image = ImageHeader(loaded.object) else { return "\(type), \(size)" }
        return "\(type), \(size), \(image.pixelWidth) × \(image.pixelHeight) pixels"
    }
}
