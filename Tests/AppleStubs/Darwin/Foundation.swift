// What Foundation and the C library have on Apple's systems only, or under other names, as the Synchronizer module uses
// it: with the signatures that it has there.
@_exported import FoundationNetworking

import Foundation

/// An enumeration in Glibc.
let RLIMIT_FSIZE: Int32 = 1

extension stat {
    var st_mtimespec: timespec { st_mtim }
    var st_ctimespec: timespec { st_ctim }
}

/// With an initialiser more.
public class URLCache: FoundationNetworking.URLCache, @unchecked Sendable {
    public override init(memoryCapacity: Int, diskCapacity: Int, diskPath path: String?) {
        super.init(memoryCapacity: memoryCapacity, diskCapacity: diskCapacity, diskPath: path)
    }

    public init(memoryCapacity: Int, diskCapacity: Int, directory directoryURL: URL? = nil) {
        super.init(memoryCapacity: memoryCapacity, diskCapacity: diskCapacity, diskPath: directoryURL?.path)
    }
}

extension URLRequest {
    var allowsExpensiveNetworkAccess: Bool {
        get { true }
        set { _ = newValue }
    }

    var allowsConstrainedNetworkAccess: Bool {
        get { true }
        set { _ = newValue }
    }
}

extension URLError {
    enum NetworkUnavailableReason: Int, Sendable {
        case cellular, expensive, constrained
    }

    var networkUnavailableReason: NetworkUnavailableReason? { nil }
}

func fclonefileat(_ source: Int32, _ folder: Int32, _ path: UnsafePointer<CChar>, _ flags: UInt32) -> Int32 { -1 }

let MNT_LOCAL: Int32 = 0x1000

struct statfs {
    var f_flags: UInt32 = 0
}

func fstatfs(_ file: Int32, _ status: UnsafeMutablePointer<statfs>) -> Int32 { -1 }
