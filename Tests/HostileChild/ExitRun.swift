import Foundation
import Synchronizer
import TestSupport

/// Ends the process while it makes connections over TLS, and while bodies arrive.
enum ExitRun {
    private static let concurrent = 8

    /// - Parameter url: of a body whose connection is closed after it.
    static func run(_ url: URL) async throws -> Never {
        var configuration = Synchronizer.Configuration(urlCache: nil)
        configuration.tls.additionalAuthorities = TestCertificate.authority.text
        configuration.maximumLoads = concurrent
        configuration.maximumLoadsPerHost = concurrent
        let synchronizer = Synchronizer(configuration: configuration)
        let ended = Collector<Bool>()
        for number in 0..<concurrent { loadForEver(url.appendingPathComponent("\(number)"), with: synchronizer, ended) }
        try await ended.wait(for: 3 * concurrent)
        say("done")
        exit(0)
    }

    private static func loadForEver(_ url: URL, with synchronizer: Synchronizer, _ ended: Collector<Bool>) {
        var request = URLRequest(url: url)
        request.cachePolicy = .reloadIgnoringLocalCacheData
        synchronizer.loadResource(DataResource(request: request), on: .global()) { result in
            if case .error(let error) = result { fail("\(error)") }
            ended.append(true)
            loadForEver(url, with: synchronizer, ended)
        }
    }
}
