import Foundation

/// The time by which objects in memory are asked whether they are fresh: the system's to a few milliseconds, and rather
/// late than early; that of any other source as it is. Lifetimes are in seconds (RFC 9111 §1.2.2).
///
/// The system's precise clock would take an eighth of the time of a hit in memory.
struct FreshnessClock: Sendable {
    private let source: any TimeSource
    private let isSystem: Bool
    private let ticks = SystemTicks()

    init(_ source: any TimeSource) {
        self.source = source
        isSystem = source is SystemTime
    }

    var now: Date { isSystem ? ticks.now : source.now }
}
