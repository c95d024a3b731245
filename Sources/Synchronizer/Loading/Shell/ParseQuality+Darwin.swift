#if canImport(Darwin)
    import Foundation

    extension DispatchQoS {
        /// Of parses: somebody waits for what comes of them. The thread that draws is above it, as `.userInteractive`.
        static let parsing = DispatchQoS.userInitiated
    }

    extension QualityOfService {
        static let parsing = QualityOfService.userInitiated
    }
#endif
