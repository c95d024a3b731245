#if canImport(Darwin)
    import Foundation
    import SynchronizerSupport

    extension ImageDecoding {
        static var standardBudget: Int {
            let eighth = Int(clamping: ProcessInfo.processInfo.physicalMemory / 8)
            return min(eighth, ProcessMemory.available / 4, 1 << 30)
        }
    }
#endif
