// A module of this name, for `canImport(Darwin)`, with what is there only, or of another type.
@_exported import Glibc

public let SO_NOSIGPIPE: Int32 = 0x1022
public let SOCK_STREAM: Int32 = 1
