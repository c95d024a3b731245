// Re-exports `TimeSource` and, on Linux, `URLCache`.
@_exported import SynchronizerSupport
