// Importing Synchronizer brings the cache, and what that brings: TimeSource and, on Linux, URLRequest, URLCache and
// URLSession, so that the same program compiles on every platform.
@_exported import SQLiteCache
