// The rules use dates and URLs, and nothing else from Foundation.
#if canImport(FoundationEssentials)
    @_exported import FoundationEssentials
#else
    @_exported import Foundation
#endif
