#if !canImport(Darwin)
    import Foundation

    extension DispatchQoS {
        /// Of parses. Nobody marks the thread that draws on Linux: it is as nice as the program. So are dispatch's workers
        /// for `.userInitiated`, or less nice than that if they may be; those for `.utility` give way.
        static let parsing = DispatchQoS.utility
    }

    extension QualityOfService {
        static let parsing = QualityOfService.utility
    }
#endif
