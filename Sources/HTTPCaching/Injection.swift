#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

/// The `Cache-Control` value to put into a response that carries no lifetime of its own; nil to leave it as it is.
///
/// It goes into successful responses without `Cache-Control` and without `Expires`. With `overriding` it replaces
/// what the server said, `no-store` included: for those who ask for that in so many words.
/// `cacheTime` is in seconds; fractions are dropped, since a lifetime has none (RFC 9111 §1.2.2).
package func injectedCacheControl(
    status: Int, fields: HTTPFields, cacheTime: TimeInterval?, overriding: Bool
) -> String? {
    guard let cacheTime, cacheTime >= 0, (200..<300).contains(status) else { return nil }
    guard overriding || !saysHowLongItMayBeKept(fields) else { return nil }
    let longest = TimeInterval(Int32.max)
    return "max-age=\(Int(min(cacheTime, longest)))"
}

private func saysHowLongItMayBeKept(_ fields: HTTPFields) -> Bool {
    fields.lines.contains { HTTPFields.same($0.name, "Cache-Control") || HTTPFields.same($0.name, "Expires") }
}
