import Foundation

/// The directory of the demo's cache, which is kept between runs, and of its picture.
struct Folder {
    /// The directory of both. The demo writes nothing else.
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
