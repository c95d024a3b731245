/// Marks a stored response whose `Cache-Control` was injected.
package enum InjectionMark {
    /// The key in a cached response's `userInfo` whose value is the injected `Cache-Control` value, a `String`.
    package static let userInfoKey = "Synchronizer.injectedCacheControl"
    /// The key in a proposed response's `userInfo` whose value is the lifetime to inject in seconds, a `Double`, if the resource
    /// has one. It is never stored.
    package static let cacheTimeKey = "Synchronizer.cacheTime"
}
