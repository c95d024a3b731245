#if canImport(Darwin)
    import Foundation

    extension MemoryPressure {
        /// The dispatch source serves all of Apple's systems, with or without a user interface.
        func watchSystem() {
            let source = DispatchSource.makeMemoryPressureSource(
                eventMask: [.warning, .critical], queue: .global(qos: .utility))
            // The handler keeps the source: it lasts as long as the program.
            source.setEventHandler { [self] in
                withExtendedLifetime(source) { report() }
            }
            source.activate()
        }
    }
#endif
