// `TimeSource` and, on Linux, `URLCache` come with this module.
@_exported import SynchronizerSupport
