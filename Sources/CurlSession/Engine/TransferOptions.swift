import CCurl
import Foundation
import FoundationNetworking
import TransportSecurity

/// A session's configuration as options of libcurl. It never changes.
final class TransferOptions: @unchecked Sendable {  // all variables are `let`; the list is only read
    let connectionsPerHost: Int
    /// Seconds that a transfer may make no progress.
    let idleLimit: Double
    /// Seconds that a task may take.
    let resourceLimit: Double
    /// The session's fields: every request that does not have them itself gets them.
    private let fields: [String: String]
    /// The session's `Proxy-Authorization`, which only HTTP proxies get.
    private let proxyAuthorization: String?
    /// Whether one of these fields can't be sent.
    private let hasFlaw: Bool
    /// The field lines of requests without any of their own.
    let plainLines: UnsafeMutablePointer<curl_slist>?

    /// The size of libcurl's buffer for a response over TLS, before libcurl 8.1.
    let bufferSize: Int
    let reportsRedirects: Bool
    let limitsRedirectBodies: Bool
    let refusesUncertainEnds: Bool
    let tls: TLSSettings
    let cookies: CookieSettings
    let proxies: ProxyRules
    let credentials: URLCredentialStorage?

    /// - Parameters:
    ///   - tls: See `CurlSession.Options`, also for the next parameters.
    ///   - bufferSize: Nil for the usual size.
    ///   - environment: The environment variables, which may name proxies.
    init(
        _ configuration: URLSessionConfiguration, tls: TLSConfiguration, reportsRedirects: Bool,
        limitsRedirectBodies: Bool, refusesUncertainEnds: Bool, bufferSize: Int?, environment: [String: String]
    ) {
        self.tls = TLSSettings(tls)
        self.reportsRedirects = reportsRedirects
        self.limitsRedirectBodies = limitsRedirectBodies
        self.refusesUncertainEnds = refusesUncertainEnds
        self.bufferSize = bufferSize ?? CurlVersion.roomForResponses
        cookies = CookieSettings(configuration)
        proxies = ProxyRules(dictionary: configuration.connectionProxyDictionary, environment: environment)
        credentials = configuration.urlCredentialStorage
        connectionsPerHost = max(1, configuration.httpMaximumConnectionsPerHost)
        idleLimit = configuration.timeoutIntervalForRequest
        resourceLimit = configuration.timeoutIntervalForResource
        var fields = [FieldName.userAgent: Self.userAgent, FieldName.acceptEncoding: ContentDecoder.acceptEncoding]
        for (name, value) in configuration.httpAdditionalHeaders ?? [:] {
            guard let name = name as? String else { continue }
            fields.setField(name, to: "\(value)")
        }
        hasFlaw = fields.contains { RequestLines.flaw(name: $0.key, value: $0.value) != nil }
        proxyAuthorization = fields.first { $0.key.isFieldName(FieldName.proxyAuthorization) }?.value
        fields.setField(FieldName.proxyAuthorization, to: nil)
        self.fields = fields
        plainLines = RequestLines.list(RequestLines.lines(session: fields, own: [:], body: .none, method: "GET"))
    }

    deinit {
        curl_slist_free_all(plainLines)
    }

    /// The same value as in Foundation's session.
    private static let userAgent =
        "\(ProcessInfo.processInfo.processName) (unknown version) curl/\(CurlVersion.number)"

    /// Seconds that a request may make no progress. `URLRequest` does not tell whether its time-out was set, so its default of 60
    /// counts as not set.
    func idleLimit(of request: URLRequest) -> Double {
        request.timeoutInterval == 60 ? idleLimit : request.timeoutInterval
    }

    /// The error for a field that can't be sent; nil if there is none. Without the field, the request could mean something else.
    ///
    /// `URLError` has no code for a bad field. The code is `.badURL`, as for a method that can't be sent: in both cases, the caller
    /// has to change the request.
    func flaw(in exchange: Exchange) -> URLError? {
        var flaws = exchange.fields.compactMap(RequestLines.flaw)
        if let value = tunnelAuthorization(of: exchange) {
            flaws += [RequestLines.flaw(name: FieldName.proxyAuthorization, value: value)].compactMap { $0 }
        }
        if hasFlaw {
            let own = exchange.fields.keys
            flaws += sessionFields(for: exchange).filter { field in !own.contains { $0.isFieldName(field.key) } }
                .compactMap(RequestLines.flaw)
        }
        return flaws.min().map { URLError(.badURL, userInfo: [NSLocalizedDescriptionKey: $0]) }
    }

    /// The field lines of a request. The caller frees the list, unless it is `plainLines`.
    func lines(for exchange: Exchange) -> UnsafeMutablePointer<curl_slist>? {
        let isPlain = !exchange.isForeign && (proxyAuthorization == nil || !exchange.talksToProxy)
        if isPlain, exchange.fields.isEmpty, exchange.method == "GET" { return plainLines }
        return RequestLines.list(
            RequestLines.lines(
                session: sessionFields(for: exchange), own: exchange.fields, body: exchange.body,
                method: exchange.method))
    }

    /// The `Proxy-Authorization` with which the request asks a proxy for a tunnel: its own, or else the session's. Nil if there is
    /// none, or if the proxy has refused it and its challenge is answered.
    func tunnelAuthorization(of exchange: Exchange) -> String? {
        guard exchange.usesTunnel, exchange.proxy?.answersChallenge == false else { return nil }
        return exchange.tunnelAuthorization ?? proxyAuthorization
    }

    /// The session's fields, without those that the receiver of the request must not get.
    private func sessionFields(for exchange: Exchange) -> [String: String] {
        var fields = fields
        if exchange.isForeign {
            for name in [FieldName.authorization, FieldName.cookie] { fields.setField(name, to: nil) }
        }
        if exchange.talksToProxy { fields[FieldName.proxyAuthorization] = proxyAuthorization }
        return fields
    }
}

/// What the libcurl of this system can do.
enum CurlVersion {
    private static var info: curl_version_info_data? { curl_version_info(CURLVERSION_FIRST)?.pointee }
    static let number = info.map { String(cString: $0.version) } ?? ""
    /// Whether a paused stream of HTTP/2 stops its connection.
    static let pausesConnections = (info?.version_num ?? 0) < 0x080100
    /// Whether libcurl can overlook the end of a response of HTTP/2.
    static let overlooksEnds = (0x075801..<0x080100).contains(info?.version_num ?? 0)
    /// Enough for the largest head of HTTP/2 that libcurl 7.88 takes, which is 128 KB as lines of HTTP/1, and for the part of the
    /// body that arrives with it. Larger if libcurl overlooks ends when a buffer is full, but much smaller than
    /// `maximumBacklogAhead`, because a transfer that pauses keeps a buffer of bytes. The kernel provides only the pages that are
    /// used. (Before 7.88, the maximum is 512 KB.)
    static let roomForResponses = overlooksEnds ? 2 << 20 : 384 << 10
    /// Whether libcurl loses the rest of a head of HTTP/2 that does not fit into its buffer, so that the transfer hangs or fails.
    static let needsRoomForHeads = (info?.version_num ?? 0) < 0x080100
    static let hasHTTP3 = (info?.features ?? 0) & (1 << 25) != 0
    /// The latest version of HTTP to use, as `CURLOPT_HTTP_VERSION`. With another TLS library than OpenSSL, the session can't send
    /// the PINGs that HTTP/2 needs in versions that overlook ends.
    static let httpVersion: Int = {
        if overlooksEnds, !tlsLibrary.hasPrefix("OpenSSL/") { return Int(CURL_HTTP_VERSION_1_1) }
        return hasHTTP3 ? Int(CURL_HTTP_VERSION_3) : Int(CURL_HTTP_VERSION_2TLS)
    }()
    private static let tlsLibrary = info?.ssl_version.map { String(cString: $0) } ?? ""
}
