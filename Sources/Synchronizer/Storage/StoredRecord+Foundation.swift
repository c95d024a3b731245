import Foundation
import HTTPCaching

// Between what Foundation's callers give and get, and what is stored.

extension StoredRecord {
    /// What is to be stored of a response that a user of `URLCache` hands over; nil if that can't be looked up safely:
    /// an answer to a body, a part of a representation, or one that depends on more than the request (`Vary: *`).
    init?(_ cached: CachedURLResponse, for request: URLRequest, now: Date) {
        guard let url = request.storedURL, request.httpBody == nil, request.httpBodyStream == nil else { return nil }
        let http = cached.response as? HTTPURLResponse
        guard http?.statusCode != 206 else { return nil }
        let fields = http.map(HTTPFields.init(of:)) ?? HTTPFields()
        guard let selecting = Self.selectingFields(of: request, named: fields.varyNames) else { return nil }
        self.init(
            StoredResponse(
                url: url, method: request.httpMethod ?? "GET", selectingFields: selecting,
                status: http?.statusCode ?? 0, fields: fields, requestTime: now, responseTime: now,
                injectedCacheControl: cached.userInfo?[InjectionMark.userInfoKey] as? String))
        if http == nil {
            other = OtherResponse(
                mimeType: cached.response.mimeType, textEncodingName: cached.response.textEncodingName,
                expectedContentLength: Int(clamping: cached.response.expectedContentLength))
        }
        if let own = cached.response.url?.absoluteString, own != url { responseURL = own }
        userInfo = Self.propertyList(cached.userInfo)
    }

    /// The fields that the answer depends on, and `Authorization`: what one credential was given is for no other.
    private static func selectingFields(of request: URLRequest, named names: [String]) -> HTTPFields? {
        if names.contains("*") { return nil }
        var fields = HTTPFields()
        for name in names + ["Authorization"] where fields[name] == nil {
            if let value = request.value(forHTTPHeaderField: name) { fields.add(name, value) }
        }
        return fields
    }

    /// Whether this was stored for such a request: same method and same selecting fields (RFC 9111 §4.1).
    func answers(_ request: URLRequest) -> Bool {
        guard response.part == nil, response.method == request.httpMethod ?? "GET" else { return false }
        let vary = response.fields.varyNames
        guard !vary.contains("*") else { return false }
        return vary.allSatisfy { response.selectingFields[$0] == request.value(forHTTPHeaderField: $0) }
            && response.selectingFields.lines.allSatisfy { request.value(forHTTPHeaderField: $0.name) == $0.value }
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

extension EncodedRecord {
    /// Whether this was stored for such a request.
    func answers(_ request: URLRequest) -> Bool {
        isPlain ? request.httpMethod ?? "GET" == "GET" : decoded?.answers(request) ?? false
    }

    /// What a user of `URLCache` gets; nil if the URL is none for Foundation.
    ///
    /// - Parameter requested: the URL that was asked for, which may have a fragment.
    func cachedResponse(_ storedURL: String, _ requested: URL?, _ body: Data) -> CachedURLResponse? {
        let own = responseURL ?? storedURL
        guard let url = requested?.absoluteString == own ? requested : URL(string: own) else { return nil }
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
    /// What a response to this is stored under: the URL without its fragment.
    var storedURL: String? {
        guard let text = url?.absoluteString else { return nil }
        guard let fragment = text.utf8.firstIndex(of: UInt8(ascii: "#")) else { return text }
        return String(text[..<fragment])
    }
}

extension HTTPFields {
    /// The names in `Vary`, which may be `*` (RFC 9110 §12.5.5).
    fileprivate var varyNames: [String] {
        guard let vary = self["Vary"] else { return [] }
        return vary.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
    }
}
