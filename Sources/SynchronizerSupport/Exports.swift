// On Linux URLRequest, URLCache and URLSession are in a module of their own. Importing one of our modules brings them,
// so that the same program compiles on every platform.
#if canImport(FoundationNetworking)
    @_exported import FoundationNetworking
#else
    @_exported import Foundation
#endif
