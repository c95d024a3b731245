/// Marks a cached response whose `Cache-Control` was injected, and is not the server's.
package enum InjectionMark {
    /// The key in `userInfo` whose value is the injected `Cache-Control` value, a `String`.
    package static let userInfoKey = "Synchronizer.injectedCacheControl"
}
