import Foundation

/// The clock for the freshness of objects in memory. It reads the system's time to within a few milliseconds, and never early;
/// that of any other source is exact. Lifetimes are in seconds (RFC 9111 §1.2.2).
///
/// The system's precise clock would take an eighth of the time of a memory hit.
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
