#if canImport(Darwin)
    import Foundation
    import os

    /// The memory that the system grants to this process.
    package enum ProcessMemory {
        /// In bytes. An app may take a part of the machine's memory, a widget or another extension may take far less. This is what
        /// was left when it was first asked for. Where the system has no such limits, as on a Mac and in a simulator, it is all
        /// of the machine's memory.
        package static let available: Int = {
            let machine = Int(clamping: ProcessInfo.processInfo.physicalMemory)
            #if os(macOS) || targetEnvironment(macCatalyst)
                return machine
            #else
                let left = os_proc_available_memory()
                return left > 0 ? min(left, machine) : machine
            #endif
        }()
    }
#endif
