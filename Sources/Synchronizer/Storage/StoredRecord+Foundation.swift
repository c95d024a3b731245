import Foundation
import HTTPCaching

// Between what Foundation's callers give and get, and what is stored.

extension StoredRecord {
    /// What is to be stored of a response that a user of `URLCache` hands over; nil if that can't be looked up safely:
    /// an answer to a body, a part of a representation, or one that depends on more than the request (`Vary: *`).
    init?(_ cached: CachedURLResponse, for request: URLRequest, now: Date) {
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
        guard CacheRules.selects(asked, response) else { return nil }
        if http == nil {
            other = OtherResponse(
                mimeType: cached.response.mimeType, textEncodingName: cached.response.textEncodingName,
                expectedContentLength: Int(clamping: cached.response.expectedContentLength))
        }
        if let own = cached.response.url?.absoluteString, own != asked.url { responseURL = own }
        userInfo = Self.propertyList(cached.userInfo)
    }

    /// Whether this was stored for such a request: same method and same selecting fields (RFC 9111 §4.1).
    fileprivate func answers(_ request: URLRequest) -> Bool {
        guard response.part == nil, let asked = CacheRequest(request) else { return false }
        return response.method == asked.method && CacheRules.selects(asked, response)
    }

    /// The entries that can be stored: text keys with property-list values. The mark of an injection has its own place.
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
}

/// A request, and what nearly every answer depends on, asked of it once.
struct Question {
    let request: URLRequest
    /// With its fragment.
    let url: URL
    private let absoluteURL: String
    /// What a response to it is stored under.
    let key: String
    let isGET: Bool
    let hasCredentials: Bool

    /// nil without a URL.
    init?(_ request: URLRequest) {
        guard let url = request.url else { return nil }
        self.request = request
        self.url = url
        absoluteURL = url.absoluteString
        key = CacheRules.cacheKey(of: absoluteURL)
        isGET = request.httpMethod ?? "GET" == "GET"
        hasCredentials = request.allHTTPHeaderFields?.keys.contains(where: CacheRules.alwaysBinds) ?? false
    }

    /// What Foundation makes of a URL that is nearly always the one that was asked for.
    fileprivate func url(_ text: String) -> URL? {
        text == absoluteURL ? url : URL(string: text)
    }
}

extension EncodedRecord {
    /// Whether this was stored for such a request.
    func answers(_ question: Question) -> Bool {
        if isPlain && !question.hasCredentials { return question.isGET }
        return decoded?.answers(question.request) ?? false
    }

    /// What a user of `URLCache` gets; nil if the URL is none for Foundation.
    func cachedResponse(to question: Question, _ body: Data) -> CachedURLResponse? {
        guard let url = question.url(responseURL ?? question.key) else { return nil }
        return LazyCachedResponse.make(self, url, body, userInfo: hasUserInfo ? decoded?.userInfoDictionary : nil)
    }

    private var responseURL: String? { hasResponseURL ? decoded?.responseURL : nil }

    /// The response without its body.
    func urlResponse(_ url: URL) -> URLResponse? {
        if isHTTP {
            guard let (status, fields) = statusAndFields else { return nil }
            return HTTPURLResponse(url: url, statusCode: status, httpVersion: "HTTP/1.1", headerFields: fields)
        }
        guard let other = decoded?.other else { return nil }
        return URLResponse(
            url: url, mimeType: other.mimeType, expectedContentLength: other.expectedContentLength,
            textEncodingName: other.textEncodingName)
    }
}

extension StoredRecord {
    fileprivate var userInfoDictionary: [AnyHashable: Any]? {
        var dictionary: [AnyHashable: Any] = [:]
        if let userInfo, let stored = try? PropertyListSerialization.propertyList(from: userInfo, format: nil) {
            dictionary = stored as? [String: Any] ?? [:]
        }
        if let injected = response.injectedCacheControl { dictionary[InjectionMark.userInfoKey] = injected }
        return dictionary.isEmpty ? nil : dictionary
    }
}

extension URLRequest {
    /// What a response to this is stored under.
    var storedURL: String? {
        (url?.absoluteString).map(CacheRules.cacheKey)
    }
}

extension CacheRequest {
    /// A request as its fields alone describe it; nil without a URL.
    fileprivate init?(_ request: URLRequest) {
        guard let url = request.storedURL else { return nil }
        self.init(url: url, method: request.httpMethod ?? "GET", fields: HTTPFields(of: request))
    }
}
