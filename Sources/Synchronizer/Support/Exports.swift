// `Synchronizer.Configuration.tls` and the errors of TLS.
@_exported import TransportSecurity

// On Linux URLRequest, URLCache and URLSession live in a module of their own. Whoever imports Synchronizer has them,
// so that the same program reads the same on every platform.
#if canImport(FoundationNetworking)
    @_exported import FoundationNetworking
#else
    @_exported import Foundation
#endif
