import Foundation
public import Synchronizer

/// Figures about the library, computed from its events.
public struct Figures: Sendable, Equatable {
    /// Loads in a cache lookup, on the network or in a parse.
    public var inFlight = 0
    /// Loads that wait for a slot.
    public var waiting = 0
    public var started = 0
    public var finished = 0
    public var cancelled = 0
    public var failed = 0
    public var retried = 0
    public var fromMemory = 0
    public var fromDisk = 0
    public var revalidated = 0
    public var fromNetwork = 0
    /// Bytes of bodies received from the network.
    public var networkBytes = 0
    /// Bytes of bodies from the cache instead of the network.
    public var savedBytes = 0
    /// Bytes received for loads that were cancelled, and not stored.
    public var wastedBytes = 0

    private struct Load {
        enum Stage { case waiting, inFlight }
        var stage: Stage
        var bytes = 0
    }

    private var loads: [Int: Load] = [:]

    public init() {}

    public static func == (one: Figures, other: Figures) -> Bool {
        one.rows.map(\.value) == other.rows.map(\.value)
    }

    /// Counts an event.
    public mutating func note(_ event: SynchronizerEvent) {
        guard let id = event.load else {
            switch event.kind {
            case .cached(.memory): fromMemory += 1
            case .failed: failed += 1
            default: break
            }
            return
        }
        switch event.kind {
        case .queued:
            started += 1
            enter(id, .waiting)
        case .started: enter(id, .inFlight)
        case .needsNetwork, .waitingForAnotherProcess: enter(id, .waiting)
        case .sent: enter(id, .inFlight)
        case .data(let bytes):
            networkBytes += bytes
            loads[id]?.bytes += bytes
        case .retrying:
            retried += 1
            enter(id, .waiting)
        case .finished(let trace):
            note(trace)
            leave(id)
        case .failed:
            failed += 1
            leave(id)
        case .refused: leave(id)
        case .cancelled:
            cancelled += 1
            wastedBytes += loads[id]?.bytes ?? 0
            leave(id)
        case .stored: loads[id]?.bytes = 0
        case .redirected, .response, .cached, .parsed, .notStored: break
        }
    }

    private mutating func note(_ trace: LoadTrace) {
        finished += 1
        savedBytes += trace.bytesSaved
        switch trace.source {
        case .memory: fromMemory += 1
        case .cache, .stale: fromDisk += 1
        case .revalidated: revalidated += 1
        case .network, nil: fromNetwork += 1
        }
    }

    private mutating func enter(_ id: Int, _ stage: Load.Stage) {
        count(loads[id]?.stage, -1)
        loads[id, default: Load(stage: stage)].stage = stage
        count(stage, 1)
    }

    private mutating func leave(_ id: Int) {
        count(loads.removeValue(forKey: id)?.stage, -1)
    }

    private mutating func count(_ stage: Load.Stage?, _ change: Int) {
        switch stage {
        case .waiting: waiting += change
        case .inFlight: inFlight += change
        case nil: break
        }
    }
}
