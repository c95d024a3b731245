// For `Synchronizer.Configuration.tls` and the errors of TLS.
@_exported import TransportSecurity

// Importing Synchronizer imports the cache, and with it TimeSource and, on Linux, URLRequest, URLCache and URLSession, so that
// the same program works on every platform.
@_exported import SQLiteCache
