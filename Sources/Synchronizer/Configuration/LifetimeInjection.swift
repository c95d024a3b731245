import Foundation
import HTTPCaching

/// The lifetime that a ``SessionDelegate`` gives to responses.
package struct LifetimeInjection: Sendable {
    /// Seconds; nil injects nothing.
    let cacheTime: TimeInterval?
    /// Whether it replaces a lifetime that the server gave.
    let overridesServerLifetime: Bool

    package init(cacheTime: TimeInterval?, overridesServerLifetime: Bool = false) {
        self.cacheTime = cacheTime
        self.overridesServerLifetime = overridesServerLifetime
    }

    /// The `Cache-Control` value that is put into a response; nil if it is left as it is.
    package func value(for status: Int, _ fields: HTTPFields) -> String? {
        injectedCacheControl(
            status: status, fields: fields, cacheTime: cacheTime, overriding: overridesServerLifetime)
    }

    /// The response with the value in it, and marked as such.
    package func injected(into proposed: CachedURLResponse) -> CachedURLResponse {
        guard cacheTime != nil, let response = proposed.response as? HTTPURLResponse, let url = response.url
        else { return proposed }
        var fields = HTTPFields(of: response)
        guard let value = value(for: response.statusCode, fields) else { return proposed }
        fields["Cache-Control"] = value
        let head = ResponseHead(url: url, status: response.statusCode, fields: fields)
        var userInfo = proposed.userInfo ?? [:]
        userInfo[InjectionMark.userInfoKey] = value
        return CachedURLResponse(
            response: head.urlResponse, data: proposed.data, userInfo: userInfo, storagePolicy: proposed.storagePolicy)
    }
}
