/// How a stored response says that its `Cache-Control` is not the server's.
package enum InjectionMark {
    /// The key in a cached response's `userInfo` whose value is the injected `Cache-Control` value, a `String`.
    package static let userInfoKey = "Synchronizer.injectedCacheControl"
}
