extension CacheRules {
    /// The `Cache-Control` value to inject into a response that has no explicit lifetime; nil to leave it unchanged.
    ///
    /// It is injected into successful responses that have neither `Cache-Control` nor `Expires`. With `overriding` it also
    /// replaces a lifetime that the server gave, but never `no-store`, `no-cache` or `private`. `cacheTime` is in seconds;
    /// fractions are dropped, because a lifetime is a whole number (RFC 9111 §1.2.2).
    package static func injectedCacheControl(
        status: Int, fields: HTTPFields, cacheTime: TimeInterval?, overriding: Bool
    ) -> String? {
        guard let cacheTime, cacheTime >= 0, (200..<300).contains(status) else { return nil }
        guard overriding ? !restrictsCaching(fields) : !saysLifetime(fields) else { return nil }
        return "max-age=\(Int(min(cacheTime, .maximumDeltaSeconds - 1)))"
    }

    /// Whether the server says for how long the response may be used, or that it may not be used again.
    package static func saysLifetime(_ fields: HTTPFields) -> Bool {
        fields.contains(FieldName.cacheControl) || fields.contains(FieldName.expires)
    }

    private static func restrictsCaching(_ fields: HTTPFields) -> Bool {
        let control = CacheControl(fields)
        return control.contains(.noStore) || control.contains(.noCache) || control.contains(.isPrivate)
            || !control.noCacheFields.isEmpty
    }
}
