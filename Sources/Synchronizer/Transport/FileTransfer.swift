import Foundation

/// Reads a `file:` URL, which `URLSession` does only on Apple platforms.
final class FileTransfer: Transfer {
    private static let queue = DispatchQueue(label: "Synchronizer.files", qos: .userInitiated, attributes: .concurrent)
    private static let chunk = 256 << 10

    private struct State {
        /// Nil once the transfer is over.
        var receive: (@Sendable (TransferEvent) -> Void)?
        var isPaused = false
    }

    /// Entered while the transfer is paused.
    private let paused = DispatchGroup()
    private let state: Locked<State>

    init(_ url: URL, receive: @escaping @Sendable (TransferEvent) -> Void) {
        state = Locked(State(receive: receive))
        Self.queue.async { self.read(url) }
    }

    func cancel() {
        state.withLock { state in
            state.receive = nil
            setPaused(false, in: &state)
        }
    }

    func setPaused(_ isPaused: Bool) {
        state.withLock { state in
            if state.receive != nil { setPaused(isPaused, in: &state) }
        }
    }

    private func setPaused(_ isPaused: Bool, in state: inout State) {
        guard isPaused != state.isPaused else { return }
        state.isPaused = isPaused
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
            if isDirectory == true { throw URLError(.fileIsDirectory, because: "the URL is that of a directory") }
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

    private var isOpen: Bool { state.withLock { $0.receive != nil } }

    private func report(_ event: TransferEvent) {
        let receive = state.withLock { state in
            defer { if case .finished = event { state.receive = nil } }
            return state.receive
        }
        receive?(event)
    }

    /// The error that `URLSession` would give.
    private static func meaning(of error: any Error) -> any Error {
        switch (error as? CocoaError)?.code {
        case .fileReadNoSuchFile?, .fileNoSuchFile?:
            return URLError(.fileDoesNotExist, because: "the file does not exist")
        case .fileReadNoPermission?:
            return URLError(.noPermissionsToReadFile, because: "there is no permission to read the file")
        default: return error
        }
    }
}
