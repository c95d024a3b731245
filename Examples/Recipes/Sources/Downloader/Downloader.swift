// Downloads a file and shows the progress. Control-C cancels the transfer.
import Foundation
import Synchronizer

@main
struct Downloader {
    static func main() async throws {
        let arguments = CommandLine.arguments.dropFirst()
        guard arguments.count == 2, let url = URL(string: arguments[1]) else {
            fatalError("Usage: Downloader URL FILE")
        }
        // Large files would only displace what the cache is for.
        var configuration = Synchronizer.Configuration(urlCache: nil)
        configuration.maximumResponseSize = 1 << 30
        let synchronizer = Synchronizer(configuration: configuration)

        let (result, finish) = AsyncThrowingStream.makeStream(of: Data.self)
        let task = synchronizer.startLoading(DataResource(url: url), priority: .high) { result in
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
        for try await data in result {
            try data.write(to: URL(fileURLWithPath: arguments[2]), options: .atomic)
            print("\(data.count) bytes")
        }
    }
}
