// On Linux URLRequest, URLCache and URLSession are in FoundationNetworking. This module re-exports it, so that the same
// program compiles on every platform.
#if canImport(FoundationNetworking)
    @_exported import FoundationNetworking
#else
    @_exported import Foundation
#endif
