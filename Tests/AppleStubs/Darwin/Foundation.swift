// What Foundation and the C library have on Apple's systems only, or under other names, as the Synchronizer module uses
// it: with the signatures that it has there.
@_exported import FoundationNetworking

import Foundation

// Enumerations in Glibc.
let RLIMIT_FSIZE: Int32 = 1
let RLIMIT_AS: Int32 = 5
let RLIMIT_NOFILE: Int32 = 8

extension stat {
    var st_mtimespec: timespec { st_mtim }
    var st_ctimespec: timespec {
        get { st_ctim }
        set { st_ctim = newValue }
    }
}

/// With more initialisers. No initialiser of Objective-C is marked as designated there, so all of them are, and the one of
/// `NSObject` is inherited. The initialiser for Swift is in an extension, so it is not.
open class URLCache: FoundationNetworking.URLCache, @unchecked Sendable {
    public init() {
        super.init(memoryCapacity: 0, diskCapacity: 0, diskPath: nil)
    }

    public override init(memoryCapacity: Int, diskCapacity: Int, diskPath path: String?) {
        super.init(memoryCapacity: memoryCapacity, diskCapacity: diskCapacity, diskPath: path)
    }

    public init(__memoryCapacity memoryCapacity: Int, diskCapacity: Int, directoryURL: URL?) {
        super.init(memoryCapacity: memoryCapacity, diskCapacity: diskCapacity, diskPath: directoryURL?.path)
    }

    public convenience init(memoryCapacity: Int, diskCapacity: Int, directory directoryURL: URL? = nil) {
        self.init(__memoryCapacity: memoryCapacity, diskCapacity: diskCapacity, directoryURL: directoryURL)
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
