// Downloads a file of any size, and shows the progress. Control-C cancels the transfer; the same command continues it.
import Foundation
import Synchronizer

@main
struct Downloader {
    static func main() async throws {
        let arguments = CommandLine.arguments.dropFirst()
        guard arguments.count == 2, let url = URL(string: arguments[1]) else {
            fatalError("Usage: Downloader URL FILE")
        }
        let file = FileResource(url: url, to: URL(fileURLWithPath: arguments[2]))
        let synchronizer = Synchronizer(urlCache: nil)  // the file is enough

        let (result, finish) = AsyncThrowingStream.makeStream(of: URL.self)
        let task = synchronizer.startLoading(file, priority: .high) { result in
            finish.yield(with: Result { try result.get() })
            finish.finish()
        }
        signal(SIGINT, SIG_IGN)
        let interrupts = DispatchSource.makeSignalSource(signal: SIGINT)
        interrupts.setEventHandler {
            task.cancel()
            finish.finish(throwing: CancellationError())
        }
        interrupts.resume()
        defer { interrupts.cancel() }

        var shown = 0
        for await progress in task.progressUpdates {
            let percent = Int((progress.fraction ?? 0) * 100)
            if percent >= shown + 25 || percent == 100 { print("\(percent) %") }
            shown = max(shown, percent / 25 * 25)
        }
        for try await file in result {
            let size = try file.resourceValues(forKeys: [.fileSizeKey]).fileSize ?? 0
            print("\(size) bytes in \(file.lastPathComponent)")
        }
    }
}
