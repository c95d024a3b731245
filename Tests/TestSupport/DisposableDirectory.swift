import Foundation
import Synchronizer

/// The path of a directory that a test may create. It is removed with this object.
public final class DisposableDirectory: Sendable {
    public let url: URL

    /// Caches that are closed in the background may make files, and the directory again, after it was removed.
    private static let used = Locked<[URL]>([])
    private static let removesAtExit: Void = {
        atexit { for url in DisposableDirectory.used.withLock({ $0 }) { DisposableDirectory.remove(url) } }
    }()

    public init(_ purpose: String) {
        _ = Self.removesAtExit
        let url = FileManager.default.temporaryDirectory
            .appendingPathComponent("\(purpose)-\(UUID().uuidString)")
        self.url = url
        Self.used.withLock { $0.append(url) }
    }

    deinit {
        Self.remove(url)
    }

    private static func remove(_ url: URL) {
        // Files that are made while the directory is being emptied are removed the next time.
        var status = stat()
        for _ in 0..<8 where lstat(url.path, &status) == 0 { try? FileManager.default.removeItem(at: url) }
    }
}
