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

    /// The same injection, with the lifetime of a resource if it has one.
    package func with(cacheTime: TimeInterval?) -> LifetimeInjection {
        guard let cacheTime else { return self }
        return LifetimeInjection(cacheTime: cacheTime, overridesServerLifetime: overridesServerLifetime)
    }

    /// The `Cache-Control` value to inject into a response; nil to leave it unchanged.
    package func value(forStatus status: Int, fields: HTTPFields) -> String? {
        CacheRules.injectedCacheControl(
            status: status, fields: fields, cacheTime: cacheTime, overriding: overridesServerLifetime)
    }

    /// The response with the injected `Cache-Control`, which is also in its user info.
    package func injected(into proposed: CachedURLResponse) -> CachedURLResponse {
        if let cacheTime = proposed.userInfo?[InjectionMark.cacheTimeKey] as? TimeInterval {
            return with(cacheTime: cacheTime).injected(into: proposed.proposing(cacheTime: nil))
        }
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

extension CachedURLResponse {
    /// The same response with the lifetime of its resource in the user info, where the delegate finds it. Nil removes it.
    package func proposing(cacheTime: TimeInterval?) -> CachedURLResponse {
        var userInfo = userInfo ?? [:]
        guard cacheTime != nil || userInfo[InjectionMark.cacheTimeKey] != nil else { return self }
        userInfo[InjectionMark.cacheTimeKey] = cacheTime
        return CachedURLResponse(response: response, data: data, userInfo: userInfo, storagePolicy: storagePolicy)
    }
}
