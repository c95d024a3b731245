// `Synchronizer.Configuration.tls`, and the errors of TLS.
@_exported import TransportSecurity

// On Linux, URLRequest, URLCache and URLSession are in a module of their own. Importing Synchronizer imports them too, so that
// the same program works on every platform.
#if canImport(Darwin)
    @_exported import Foundation
#else
    @_exported import FoundationNetworking
#endif
