import Foundation
import HTTPCaching
import SynchronizerSupport

/// A request, and the values that nearly every lookup needs, computed once.
package struct LookupKey {
    package let request: URLRequest
    /// The URL, with its fragment.
    let url: URL
    private let absoluteURL: String
    /// The URL that a response to the request is stored under.
    package let key: String
    /// The checksum of that URL.
    package let urlKey: UInt64
    let isGET: Bool
    let hasCredentials: Bool

    /// Returns nil if the request has no URL.
    package init?(_ request: URLRequest) {
        guard let url = request.url else { return nil }
        self.request = request
        self.url = url
        absoluteURL = url.absoluteString
        key = CacheRules.cacheKey(of: absoluteURL)
        urlKey = Checksum64.of(key)
        isGET = request.httpMethod ?? "GET" == "GET"
        hasCredentials = request.allHTTPHeaderFields?.keys.contains(where: CacheRules.alwaysBinds) ?? false
    }

    /// The URL with this text. It is parsed only if it is not the URL of the request, as it nearly always is.
    fileprivate func url(of text: String) -> URL? {
        text == absoluteURL ? url : URL(string: text)
    }
}

extension EncodedRecord {
    /// Whether the response answers the request.
    package func answers(_ lookup: LookupKey) -> Bool {
        if isPlain && !lookup.hasCredentials { return lookup.isGET }
        return decoded?.answers(lookup.request) ?? false
    }

    /// The object that `URLCache` returns; nil if Foundation can't parse the URL.
    package func cachedResponse(to lookup: LookupKey, body: Data) -> CachedURLResponse? {
        let responseURL = hasResponseURL ? decoded?.responseURL : nil
        guard let url = lookup.url(of: responseURL ?? lookup.key) else { return nil }
        let userInfo = hasUserInfo ? decoded?.userInfoDictionary : nil
        return LazyCachedResponse.make(record: self, url: url, body: body, userInfo: userInfo)
    }

    /// The response without its body.
    func urlResponse(url: URL) -> URLResponse? {
        if isHTTP {
            guard let (status, fields) = statusAndFields else { return nil }
            return HTTPURLResponse.make(url: url, status: status, version: "HTTP/1.1", fields: fields)
        }
        guard let other = decoded?.other else { return nil }
        return URLResponse(
            url: url, mimeType: other.mimeType, expectedContentLength: other.expectedContentLength,
            textEncodingName: other.textEncodingName)
    }
}

extension StoredRecord {
    /// Whether method and selecting fields of the request match those of the response (RFC 9111 §4.1).
    fileprivate func answers(_ request: URLRequest) -> Bool {
        guard response.part == nil, let request = CacheRequest(request) else { return false }
        return response.method == request.method && CacheRules.selects(response, for: request)
    }
}
