// Re-exports `SQLiteURLCache` (the local level), `TimeSource` and, on Linux, `URLCache`.
@_exported import SQLiteCache
