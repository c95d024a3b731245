import Foundation
import HTTPCaching

/// The lifetime that a ``SessionDelegate`` injects into responses.
package struct LifetimeInjection: Sendable {
    /// Seconds; nil injects none.
    let cacheTime: TimeInterval?
    /// Whether it also replaces a lifetime that the server gave.
    let overridesServerLifetime: Bool

    package init(cacheTime: TimeInterval?, overridesServerLifetime: Bool = false) {
        self.cacheTime = cacheTime
        self.overridesServerLifetime = overridesServerLifetime
    }

    /// The `Cache-Control` value to inject into a response; nil to leave it unchanged.
    package func value(forStatus status: Int, fields: HTTPFields) -> String? {
        CacheRules.injectedCacheControl(
            status: status, fields: fields, cacheTime: cacheTime, overriding: overridesServerLifetime)
    }

    /// The response with the injected value, which its user info repeats.
    package func injected(into proposed: CachedURLResponse) -> CachedURLResponse {
        guard cacheTime != nil, let response = proposed.response as? HTTPURLResponse, let url = response.url
        else { return proposed }
        var fields = HTTPFields(of: response)
        guard let value = value(forStatus: response.statusCode, fields: fields) else { return proposed }
        fields[FieldName.cacheControl] = value
        let head = ResponseHead(url: url, status: response.statusCode, fields: fields)
        var userInfo = proposed.userInfo ?? [:]
        userInfo[InjectionMark.userInfoKey] = value
        return CachedURLResponse(
            response: head.urlResponse, data: proposed.data, userInfo: userInfo, storagePolicy: proposed.storagePolicy)
    }
}
