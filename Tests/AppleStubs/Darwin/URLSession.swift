// What URLSession and NSObject have on Apple's systems only, with the signatures that it has there.
import Foundation
import Security

public struct Selector: Equatable, Sendable {
    let name: String

    public init(_ name: String) { self.name = name }
}

/// With the methods that the runtime of Objective-C calls.
open class NSObject: Foundation.NSObject {
    open func responds(to selector: Selector!) -> Bool { false }
    open func forwardingTarget(for selector: Selector!) -> Any? { nil }
}

enum tls_protocol_version_t: UInt16 {
    case TLSv12 = 0x0303
    case TLSv13 = 0x0304
}

extension URLSessionConfiguration {
    var tlsMinimumSupportedProtocolVersion: tls_protocol_version_t {
        get { .TLSv12 }
        set { _ = newValue }
    }
}

extension URLProtectionSpace {
    var serverTrust: SecTrust? { nil }
}

extension URLCredential {
    convenience init(trust: SecTrust) { self.init(user: "", password: "", persistence: .none) }

    convenience init(identity: SecIdentity, certificates: [Any]?, persistence: URLCredential.Persistence) {
        self.init(user: "", password: "", persistence: persistence)
    }
}

// Foundation on Linux has these names, too, and marks them as unavailable.
let NSURLAuthenticationMethodServerTrust = "NSURLAuthenticationMethodServerTrust"
let NSURLAuthenticationMethodClientCertificate = "NSURLAuthenticationMethodClientCertificate"
