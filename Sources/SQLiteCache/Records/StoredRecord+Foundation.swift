import Foundation
import HTTPCaching
import SynchronizerSupport

extension StoredRecord {
    /// The record of a response that a caller stores with the methods of `URLCache`. Nil if no lookup may return the response: if
    /// it answers a request with a body, is a part (status 206), or varies on everything (`Vary: *`).
    package init?(_ cached: CachedURLResponse, for request: URLRequest, now: Date) {
        guard let asked = CacheRequest(request), request.httpBody == nil, request.httpBodyStream == nil else {
            return nil
        }
        let http = cached.response as? HTTPURLResponse
        guard http?.statusCode != 206 else { return nil }
        let fields = http.map(HTTPFields.init(of:)) ?? HTTPFields()
        self.init(
            StoredResponse(
                url: asked.url, method: asked.method,
                selectingFields: CacheRules.selectingFields(of: asked, for: fields),
                status: http?.statusCode ?? 0, fields: fields, requestTime: now, responseTime: now,
                injectedCacheControl: cached.userInfo?[InjectionMark.userInfoKey] as? String))
        guard CacheRules.selects(response, for: asked) else { return nil }
        if http == nil {
            other = OtherResponse(
                mimeType: cached.response.mimeType, textEncodingName: cached.response.textEncodingName,
                expectedContentLength: Int(clamping: cached.response.expectedContentLength))
        }
        if let own = cached.response.url?.absoluteString, own != asked.url { responseURL = own }
        userInfo = Self.propertyList(cached.userInfo)
    }

    /// The record of a response whose user info and own URL are those of `cached`.
    package init(_ response: StoredResponse, with cached: CachedURLResponse) {
        self.init(response)
        userInfo = Self.propertyList(cached.userInfo)
        if let own = cached.response.url?.absoluteString, own != response.url { responseURL = own }
    }

    /// The entries that can be stored: those with strings as keys and property lists as values. The record has the injected
    /// `Cache-Control` elsewhere.
    static func propertyList(_ userInfo: [AnyHashable: Any]?) -> Data? {
        var storable: [String: Any] = [:]
        for (key, value) in userInfo ?? [:] {
            guard let key = key as? String, key != InjectionMark.userInfoKey,
                PropertyListSerialization.propertyList(value, isValidFor: .binary)
            else { continue }
            storable[key] = value
        }
        if storable.isEmpty { return nil }
        return try? PropertyListSerialization.data(fromPropertyList: storable, format: .binary, options: 0)
    }

    var userInfoDictionary: [AnyHashable: Any]? {
        var dictionary: [AnyHashable: Any] = [:]
        if let userInfo, let stored = try? PropertyListSerialization.propertyList(from: userInfo, format: nil) {
            dictionary = stored as? [String: Any] ?? [:]
        }
        if let injected = response.injectedCacheControl { dictionary[InjectionMark.userInfoKey] = injected }
        return dictionary.isEmpty ? nil : dictionary
    }
}

extension URLRequest {
    /// The key under which responses to the request are stored; nil without a URL.
    package var cacheKey: String? { url.map { CacheRules.cacheKey(of: $0.absoluteString) } }
}

extension CacheRequest {
    /// The request with its own fields, without those that a session adds; nil if it has no URL.
    init?(_ request: URLRequest) {
        guard let url = request.cacheKey else { return nil }
        self.init(url: url, method: request.httpMethod ?? "GET", fields: HTTPFields(of: request))
    }
}
