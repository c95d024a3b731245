#if !canImport(Darwin)
    import Foundation

    extension ImageDecoding {
        static var standardBudget: Int {
            let eighth = Int(clamping: ProcessInfo.processInfo.physicalMemory / 8)
            return min(max(eighth, 128 << 20), 1 << 30)
        }
    }
#endif
