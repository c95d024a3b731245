#if canImport(Darwin)
    import Foundation

    extension MemoryPressure {
        /// A dispatch source works on all of Apple's systems, with or without a user interface.
        func watchSystem() {
            watchApp()
            let source = DispatchSource.makeMemoryPressureSource(
                eventMask: [.warning, .critical], queue: .global(qos: .utility))
            // The handler keeps the source for the lifetime of the program.
            source.setEventHandler { [self] in
                withExtendedLifetime(source) { report() }
            }
            source.activate()
        }
    }
#endif
