#if !canImport(Darwin)
    import Foundation

    /// The networks that a request may use. Foundation on Linux does not distinguish networks.
    struct NetworkAccess: Hashable, Sendable {
        init(of request: URLRequest) {}
    }

    extension URLRequest {
        /// The same request: no network is known to be constrained.
        var avoidingConstrainedNetworks: URLRequest { self }
    }

    extension SynchronizerError {
        var isDueToConstrainedNetwork: Bool { false }
    }

    extension DispatchQoS {
        /// The quality of service of parses. On Linux the thread that draws has the niceness of the program. Dispatch runs
        /// `.userInitiated` workers at that niceness or at a more favourable one, so they would compete with that thread;
        /// `.utility` workers give way to it.
        static let parsing = DispatchQoS.utility
    }

    /// Signposts exist on Apple's systems only.
    enum Signposts {
        static func observer(before next: (any SynchronizerObserver)?) -> (any SynchronizerObserver)? { next }
    }
#endif
