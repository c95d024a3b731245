// The server itself is a product. This module adds the sample site.
@_exported import SynchronizerTesting
