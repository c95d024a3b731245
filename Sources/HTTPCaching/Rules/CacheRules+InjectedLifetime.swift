/// The `Cache-Control` value to put into a response that carries no lifetime of its own; nil to leave it as it is.
///
/// It goes into successful responses without `Cache-Control` and without `Expires`. With `overriding` it replaces a
/// lifetime that the server gave, too; `no-store`, `no-cache` and `private` stand all the same.
/// `cacheTime` is in seconds; fractions are dropped, since a lifetime has none (RFC 9111 §1.2.2).
package func injectedCacheControl(
    status: Int, fields: HTTPFields, cacheTime: TimeInterval?, overriding: Bool
) -> String? {
    guard let cacheTime, cacheTime >= 0, (200..<300).contains(status) else { return nil }
    guard overriding ? !forbidsSharing(fields) : !saysHowLongItMayBeKept(fields) else { return nil }
    return "max-age=\(Int(min(cacheTime, CacheControl.longestLifetime - 1)))"
}

private func saysHowLongItMayBeKept(_ fields: HTTPFields) -> Bool {
    fields.lines.contains { HTTPFields.same($0.name, "Cache-Control") || HTTPFields.same($0.name, "Expires") }
}

private func forbidsSharing(_ fields: HTTPFields) -> Bool {
    let control = CacheControl(fields)
    return control.contains(.noStore) || control.contains(.noCache) || control.contains(.isPrivate)
        || !control.noCacheFields.isEmpty
}
