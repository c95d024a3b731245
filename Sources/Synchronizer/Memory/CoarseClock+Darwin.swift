#if canImport(Darwin)
    import Foundation

    /// The time, which is cheap to ask.
    struct SystemTicks: Sendable {
        var now: Date { Date() }
    }
#endif
