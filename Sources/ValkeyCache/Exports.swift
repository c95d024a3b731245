// `SQLiteURLCache`, which is the local level, `TimeSource` and, on Linux, `URLCache` come with this module.
@_exported import SQLiteCache
