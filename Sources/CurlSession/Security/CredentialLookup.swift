import Foundation
import FoundationNetworking

extension URLCredentialStorage {
    /// The credential that is stored for a protection space.
    ///
    /// On Linux a `URLProtectionSpace` is equal only to itself, so `defaultCredential(for:)` finds nothing for a space that
    /// other code created.
    func storedCredential(for space: URLProtectionSpace) -> URLCredential? {
        let all = allCredentials.filter { $0.key.covers(space) }
        return all.keys.lazy.compactMap { self.defaultCredential(for: $0) }.first ?? all.values.first?.values.first
    }

    /// Makes a credential the default of a protection space, in place of a stored one.
    func store(_ credential: URLCredential, for space: URLProtectionSpace) {
        setDefaultCredential(credential, for: allCredentials.keys.first { $0.covers(space) } ?? space)
    }
}

extension URLProtectionSpace {
    /// Whether a credential for this space is also one for `other`. The space of a proxy that refused a tunnel has no realm,
    /// because libcurl does not report the realm.
    fileprivate func covers(_ other: URLProtectionSpace) -> Bool {
        host.lowercased() == other.host.lowercased() && port == other.port && isProxy() == other.isProxy()
            && (isProxy() || Self.scheme(self.protocol) == Self.scheme(other.protocol))
            && (realm == other.realm || other.realm == nil)
            && [other.authenticationMethod, NSURLAuthenticationMethodDefault].contains(authenticationMethod)
    }

    /// Both `https` and `NSURLProtectionSpaceHTTPS` are in use.
    private static func scheme(_ name: String?) -> String? {
        switch name {
        case NSURLProtectionSpaceHTTP: "http"
        case NSURLProtectionSpaceHTTPS: "https"
        default: name?.lowercased()
        }
    }
}
