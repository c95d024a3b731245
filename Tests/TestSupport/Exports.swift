// ManualClock.
@_exported import SynchronizerTesting
