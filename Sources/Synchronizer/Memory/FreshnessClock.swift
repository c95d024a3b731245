import Foundation

/// The clock for the freshness of objects in memory. For the system's time it may be a few milliseconds fast, but never slow;
/// any other source is read exactly. That is precise enough, because lifetimes are in whole seconds (RFC 9111 §1.2.2).
///
/// Reading the system's precise clock would take an eighth of the time of a memory hit.
struct FreshnessClock: Sendable {
    private let source: any TimeSource
    private let isSystem: Bool
    private let ticks = CoarseClock()

    init(_ source: any TimeSource) {
        self.source = source
        isSystem = source is SystemTime
    }

    var now: Date { isSystem ? ticks.now : source.now }
}
