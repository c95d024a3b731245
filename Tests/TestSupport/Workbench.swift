import Foundation
import ScriptedServer
import Synchronizer

/// A server, a clock that is moved by hand, a cache in a directory of its own, and synchronizers over them.
public final class Workbench: Sendable {
    public let server: ScriptedServer
    public let clock: ManualClock
    private let disposable = DisposableDirectory("synchronizer")

    public var directory: URL { disposable.url }

    public init() throws {
        server = try ScriptedServer()
        clock = ManualClock()
    }

    /// A cache over the workbench's directory; several see the same responses, as several runs of a program do.
    public func cache() -> SQLiteURLCache {
        SQLiteURLCache(memoryCapacity: 4 << 20, diskCapacity: 64 << 20, directory: directory, time: clock)
    }

    /// A synchronizer that tries nothing twice, over a cache of its own unless one is given.
    public func synchronizer(
        cacheTime: TimeInterval? = nil, cache: URLCache? = nil, delegate: SessionDelegate? = nil,
        _ change: (inout Synchronizer.Configuration) -> Void = { _ in }
    ) -> Synchronizer {
        var configuration = Synchronizer.Configuration(cacheTime: cacheTime, urlCache: cache ?? self.cache())
        if let delegate { configuration.sessionDelegate = delegate }
        configuration.caching = .managed
        configuration.sessionConfiguration = .ephemeral
        configuration.time = clock
        configuration.retry = .none
        change(&configuration)
        let session = configuration.sessionConfiguration
        // The session's time-outs count real seconds, however little of them a busy machine gives a test.
        if session.timeoutIntervalForRequest == 60 { session.timeoutIntervalForRequest = 1e9 }
        return Synchronizer(configuration: configuration)
    }
}
