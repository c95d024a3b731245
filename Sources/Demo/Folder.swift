import Foundation

/// Where the demo keeps its cache from run to run, and puts its picture.
struct Folder {
    /// The directory that holds both; nothing else is written by the demo.
    let url: URL

    /// In the user's directory for caches (`$XDG_CACHE_HOME` or `~/.cache` on Linux).
    init() throws {
        let caches = FileManager.default.urls(for: .cachesDirectory, in: .userDomainMask).first
        url = (caches ?? FileManager.default.temporaryDirectory).appendingPathComponent("synchronizer-demo")
        try FileManager.default.createDirectory(
            at: url, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }

    var cache: URL { url.appendingPathComponent("cache") }

    var contactSheet: URL { url.appendingPathComponent("contact-sheet.png") }
}
