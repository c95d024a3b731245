import Foundation
import SQLiteCache
import Synchronizer
import TestSupport

// Processes that share leases.

/// Takes a lease, and keeps it until it is killed.
func holdLease(of cache: SQLiteURLCache) {
    switch cache.lease("key", for: 3600) {
    case .granted(let lease):
        say("granted \(lease.token)")
        while true { pause() }
    case .held: say("held")
    case .unavailable: say("unavailable")
    }
}

/// No lease is granted while something is short, and one is afterwards.
func checkLeases(of cache: SQLiteURLCache, without shortage: Shortage) {
    shortage.during {
        guard case .unavailable = cache.lease("key", for: 3600) else { fail("a lease without a file") }
    }
    guard case .granted(let lease) = cache.lease("key", for: 3600) else { fail("no lease") }
    cache.release(lease)
}

/// Says when a load waits for another process.
private struct Waiting: SynchronizerObserver {
    func synchronizerDid(_ event: SynchronizerEvent) {
        if case .waitingForAnotherProcess = event.kind { say("waiting") }
    }
}

/// Loads one resource, as a command-line tool does.
func load(_ url: String, with cache: SQLiteURLCache) async {
    var configuration = Synchronizer.Configuration(urlCache: cache)
    configuration.leases?.duration = 3600
    configuration.leases?.maximumWait = 3600
    configuration.observer = Waiting()
    configuration.retry = .none
    let synchronizer = Synchronizer(configuration: configuration)
    guard let url = URL(string: url) else { fail("no URL") }
    do {
        let loaded = try await synchronizer.loaded(DataResource(url: url))
        say("got \(String(decoding: loaded.object, as: UTF8.self)) from \(loaded.trace.source?.rawValue ?? "nothing")")
    } catch {
        fail("\(error)")
    }
}
