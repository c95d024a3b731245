import Foundation

/// Reads a `file:` URL, which `URLSession` does only on Apple platforms.
final class FileTransfer: Transfer {
    private static let queue = DispatchQueue(label: "Synchronizer.files", qos: .userInitiated, attributes: .concurrent)
    private static let chunk = 256 << 10

    /// Entered while the transfer is paused.
    private let paused = DispatchGroup()
    /// Nil once the transfer is over.
    private let receive: Locked<(@Sendable (TransferEvent) -> Void)?>

    init(_ url: URL, receive: @escaping @Sendable (TransferEvent) -> Void) {
        self.receive = Locked(receive)
        Self.queue.async { self.read(url) }
    }

    func cancel() {
        receive.withLock { $0 = nil }
    }

    func setPaused(_ isPaused: Bool) {
        if isPaused { paused.enter() } else { paused.leave() }
    }

    /// Files are not stored: there is nothing to decide.
    func willCache(
        _ head: ResponseHead, body: Data, cacheTime: TimeInterval?,
        decided: @escaping @Sendable (StorageDecision) -> Void
    ) {
        decided(.nothing)
    }

    private func read(_ url: URL) {
        do {
            let isDirectory = try url.resourceValues(forKeys: [.isDirectoryKey]).isDirectory
            if isDirectory == true { throw URLError(.fileIsDirectory) }
            let file = try FileHandle(forReadingFrom: url)
            defer { try? file.close() }
            let size = try file.seekToEnd()
            try file.seek(toOffset: 0)
            let length = Int(clamping: size)
            let response = URLResponse(url: url, mimeType: nil, expectedContentLength: length, textEncodingName: nil)
            report(.response(ResponseHead(response)))
            while isOpen, let data = try file.read(upToCount: Self.chunk), !data.isEmpty {
                report(.data(data))
                paused.wait()
            }
            report(.finished(nil))
        } catch {
            report(.finished(Self.meaning(of: error)))
        }
    }

    private var isOpen: Bool { receive.withLock { $0 != nil } }

    private func report(_ event: TransferEvent) {
        let receive = receive.withLock { receive in
            defer { if case .finished = event { receive = nil } }
            return receive
        }
        receive?(event)
    }

    /// The error that `URLSession` would give.
    private static func meaning(of error: any Error) -> any Error {
        switch (error as? CocoaError)?.code {
        case .fileReadNoSuchFile?, .fileNoSuchFile?: return URLError(.fileDoesNotExist)
        case .fileReadNoPermission?: return URLError(.noPermissionsToReadFile)
        default: return error
        }
    }
}
