#if canImport(FoundationNetworking)
    import Foundation

    /// The networks that a request may use: Foundation here does not tell networks apart.
    struct NetworkAccess: Hashable, Sendable {
        init(of request: URLRequest) {}
    }
#endif
