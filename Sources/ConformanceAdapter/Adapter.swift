import Foundation
import Synchronizer
import ValkeyCache

/// Speaks the adapter protocol of `Scripts/conformance-harness/run-cache-tests.mjs`. It reads requests from standard input,
/// one JSON object a line, and writes responses to standard output in the same form, in any order. It uses only the public
/// API of Synchronizer.
///
///     ConformanceAdapter [--store sqlite|stock|none|URL] [--memory] [--errors-as-504]
///
/// `--errors-as-504` writes a 504 response if a load fails without a response, as a proxy does (RFC 9110 §15.6.5). Some tests
/// of the suite expect a response where a client has only an error.
/// `--store` with a URL such as `unix:///run/valkey.sock` uses a `ValkeyURLCache` with that server, if the trait Valkey is on.
/// `--memory` keeps parsed objects in memory, as an app does. Without it every response comes through the HTTP cache.
@main
struct Adapter {
    static func main() async throws {
        let arguments = Array(CommandLine.arguments.dropFirst())
        let directory = FileManager.default.temporaryDirectory.appending(path: "conformance-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: directory) }
        let store = arguments.firstIndex(of: "--store").flatMap { arguments.dropFirst($0 + 1).first } ?? "sqlite"
        let synchronizer = Synchronizer(
            configuration: configuration(
                store: store, directory: directory, keepsObjects: arguments.contains("--memory")))
        await withTaskGroup(of: Void.self) { answers in
            while let line = readLine() {
                guard let call = Call(line) else { continue }
                answers.addTask {
                    Output.write(
                        await call.answer(from: synchronizer, errorsAs504: arguments.contains("--errors-as-504")))
                }
            }
        }
    }

    private static func configuration(
        store: String, directory: URL, keepsObjects: Bool
    ) -> Synchronizer.Configuration {
        var configuration = Synchronizer.Configuration(urlCache: cache(store: store, directory: directory))
        configuration.caching = .managed
        configuration.retry = .none  // the suite counts requests
        configuration.maximumLoads = 64
        configuration.maximumLoadsPerHost = 64
        if !keepsObjects { configuration.memoryCapacity = 0 }
        return configuration
    }

    /// A cache in a namespace of its own, because the suite expects an empty cache.
    private static func sharedCache(server: String, directory: URL) -> URLCache? {
        #if Valkey && canImport(CHiredis)
            let local = SQLiteURLCache(memoryCapacity: 16 << 20, diskCapacity: 64 << 20, directory: directory)
            var options = ValkeyURLCache.Options()
            options.longestWait = 5
            return try? ValkeyURLCache(
                server: server, namespace: UUID().uuidString, local: local, options: options)
        #else
            return nil
        #endif
    }

    private static func cache(store: String, directory: URL) -> URLCache? {
        switch store {
        case "stock": return URLCache(memoryCapacity: 64 << 20, diskCapacity: 0, diskPath: directory.path)
        case "none": return nil
        case let server where server.contains(":"): return sharedCache(server: server, directory: directory)
        default: return SQLiteURLCache(memoryCapacity: 16 << 20, diskCapacity: 64 << 20, directory: directory)
        }
    }
}

/// Writes whole lines to standard output, one at a time.
enum Output {
    private static let queue = DispatchQueue(label: "output")

    static func write(_ answer: [String: any Sendable]) {
        queue.sync {
            guard var line = try? JSONSerialization.data(withJSONObject: answer) else { return }
            line.append(UInt8(ascii: "\n"))
            FileHandle.standardOutput.write(line)
        }
    }
}
