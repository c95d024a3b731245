/// Marks a stored response whose `Cache-Control` was injected.
package enum InjectionMark {
    /// The key in a cached response's `userInfo` whose value is the injected `Cache-Control` value, a `String`.
    package static let userInfoKey = "Synchronizer.injectedCacheControl"
}
