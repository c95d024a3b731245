#if canImport(Darwin)
    import Foundation

    /// The current time, which is cheap to read.
    struct CoarseClock: Sendable {
        var now: Date { Date() }
    }
#endif
