import CCurl
import Foundation
import FoundationNetworking

/// A session's configuration as options of libcurl. It never changes.
final class TransferOptions: @unchecked Sendable {  // all variables are `let`; the list is only read
    let connectionsPerHost: Int
    /// Seconds that a transfer may make no progress.
    let idleLimit: Double
    /// Seconds that a task may take.
    let resourceLimit: Double
    /// The session's fields: every request that does not have them itself gets them.
    private let fields: [String: String]
    /// The session's `Proxy-Authorization`, which only an HTTP proxy gets that receives the request itself.
    private let proxyAuthorization: String?
    /// Whether one of these fields can't be sent.
    private let hasFlaw: Bool
    /// The field lines of requests without any of their own.
    let plainLines: UnsafeMutablePointer<curl_slist>?

    let reportsRedirects: Bool
    let limitsRedirectBodies: Bool
    let tls: TLSSettings
    let cookies: CookieSettings
    let proxies: ProxyRules
    let credentials: URLCredentialStorage?

    /// - Parameter environment: The environment variables, which may name proxies.
    init(
        _ configuration: URLSessionConfiguration, options: CurlSession.Options, environment: [String: String]
    ) {
        reportsRedirects = options.reportsRedirects
        limitsRedirectBodies = options.limitsRedirectBodies
        tls = TLSSettings(options.tls)
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
        if hasFlaw {
            let own = exchange.fields.keys
            flaws += sessionFields(for: exchange).filter { field in !own.contains { $0.isFieldName(field.key) } }
                .compactMap(RequestLines.flaw)
        }
        return flaws.min().map { URLError(.badURL, userInfo: [NSLocalizedDescriptionKey: $0]) }
    }

    /// A handle with the options that all requests share.
    func makeHandle(for pool: ConnectionPool) -> UnsafeMutableRawPointer? {
        guard let easy = curl_easy_init() else { return nil }
        func set(_ option: CURLoption, to value: Int) { _ = synchronizer_setopt_long(easy, option, value) }
        set(CURLOPT_NOSIGNAL, to: 1)
        // libcurl must not use other protocols, whatever the URL's scheme is.
        _ = synchronizer_setopt_string(easy, CURLOPT_PROTOCOLS_STR, "http,https")
        set(CURLOPT_FOLLOWLOCATION, to: 0)
        set(CURLOPT_SUPPRESS_CONNECT_HEADERS, to: 1)
        // libcurl sends the path of `Exchange` unchanged. Digest and the cookies rely on that.
        set(CURLOPT_PATH_AS_IS, to: 1)
        set(CURLOPT_HTTP_VERSION, to: CurlVersion.hasHTTP3 ? Int(CURL_HTTP_VERSION_3) : Int(CURL_HTTP_VERSION_2TLS))
        // `ContentDecoder` and `ChunkDecoder` decode the bodies. libcurl still finds the end of a body in chunks.
        set(CURLOPT_HTTP_CONTENT_DECODING, to: 0)
        set(CURLOPT_HTTP_TRANSFER_DECODING, to: 0)
        // Large enough for a small response in one piece. glibc would return a larger buffer to the kernel after each transfer.
        set(CURLOPT_BUFFERSIZE, to: 32 << 10)
        set(CURLOPT_UPLOAD_BUFFERSIZE, to: 64 << 10)
        set(CURLOPT_TCP_KEEPALIVE, to: 1)
        set(CURLOPT_MAXAGE_CONN, to: ConnectionPool.maximumAge)
        // Otherwise, if a transfer is cancelled while libcurl looks up a name, the engine's thread waits for the lookup.
        set(CURLOPT_QUICK_EXIT, to: 1)
        tls.apply(to: easy)
        // `ProxyRules` has already read the environment, so libcurl must not read it.
        _ = synchronizer_setopt_string(easy, CURLOPT_PROXY, "")
        _ = synchronizer_setopt_string(easy, CURLOPT_NOPROXY, "")
        _ = synchronizer_setopt_write(easy, CURLOPT_HEADERFUNCTION, headerCallback)
        _ = synchronizer_setopt_write(easy, CURLOPT_WRITEFUNCTION, writeCallback)
        let context = Unmanaged.passUnretained(pool).toOpaque()
        _ = synchronizer_setopt_sockets(easy, openSocketCallback, closeSocketCallback, context)
        _ = synchronizer_setopt_lookup(easy, lookupCallback)
        _ = synchronizer_setopt_request(easy, requestCallback)
        return easy
    }

    /// Makes a handle send a request.
    /// - Returns: The list of field lines, which must live as long as the transfer.
    func apply(
        _ exchange: Exchange, to easy: UnsafeMutableRawPointer, for transfer: Transfer
    ) -> UnsafeMutablePointer<curl_slist>? {
        let context = Unmanaged.passUnretained(transfer).toOpaque()
        _ = synchronizer_setopt_string(easy, CURLOPT_URL, exchange.target)
        _ = synchronizer_setopt_pointer(easy, CURLOPT_HEADERDATA, context)
        _ = synchronizer_setopt_pointer(easy, CURLOPT_WRITEDATA, context)
        _ = synchronizer_setopt_pointer(easy, CURLOPT_RESOLVER_START_DATA, context)
        _ = synchronizer_setopt_pointer(easy, CURLOPT_PREREQDATA, context)
        _ = synchronizer_setopt_pointer(easy, CURLOPT_ERRORBUFFER, transfer.message)
        if exchange.isSecure { tls.pin(exchange.url.host.flatMap(HostName.canonical), on: easy) }
        _ = synchronizer_setopt_long(easy, CURLOPT_PIPEWAIT, exchange.isSecure ? 1 : 0)
        if let proxy = exchange.proxy { use(proxy, for: exchange, on: easy, by: transfer) }
        let patience = exchange.idleLimit.map { Int(clamping: $0 / 1_000_000) } ?? 0
        _ = synchronizer_setopt_long(easy, CURLOPT_CONNECTTIMEOUT_MS, patience == 0 ? Int(Int32.max) : patience)
        setMethod(of: exchange, on: easy, for: transfer)
        let lines = lines(for: exchange)
        _ = synchronizer_setopt_pointer(easy, CURLOPT_HTTPHEADER, lines)
        return lines
    }

    /// Sets the proxy. libcurl itself sends the credentials to a SOCKS proxy, and to an HTTP proxy when it asks for a tunnel
    /// (CONNECT). Other requests carry the credentials in their fields.
    private func use(
        _ proxy: ProxyRules.Proxy, for exchange: Exchange, on easy: UnsafeMutableRawPointer, by transfer: Transfer
    ) {
        _ = synchronizer_setopt_string(easy, CURLOPT_PROXY, proxy.url)
        if proxy.url.hasPrefix("https:") { tls.applyToProxy(of: easy) }
        if exchange.isSecure, proxy.url.hasPrefix("http") {
            let context = Unmanaged.passUnretained(transfer).toOpaque()
            _ = synchronizer_setopt_progress(easy, tunnelCallback, context)
        }
        guard exchange.isSecure || proxy.url.hasPrefix("socks") else { return }
        _ = synchronizer_setopt_long(easy, CURLOPT_PROXYAUTH, proxy.schemes)
        _ = synchronizer_setopt_string(easy, CURLOPT_PROXYUSERNAME, proxy.user)
        _ = synchronizer_setopt_string(easy, CURLOPT_PROXYPASSWORD, proxy.password)
    }

    private func lines(for exchange: Exchange) -> UnsafeMutablePointer<curl_slist>? {
        let isPlain = !exchange.isForeign && (proxyAuthorization == nil || !exchange.talksToProxy)
        if isPlain, exchange.fields.isEmpty, exchange.method == "GET" { return plainLines }
        return RequestLines.list(
            RequestLines.lines(
                session: sessionFields(for: exchange), own: exchange.fields, body: exchange.body,
                method: exchange.method))
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

    private func setMethod(of exchange: Exchange, on easy: UnsafeMutableRawPointer, for transfer: Transfer) {
        func set(_ option: CURLoption, to value: Int) { _ = synchronizer_setopt_long(easy, option, value) }
        if exchange.method == "GET" { return set(CURLOPT_HTTPGET, to: 1) }
        if exchange.method == "HEAD" { return set(CURLOPT_NOBODY, to: 1) }
        if !exchange.body.isEmpty {
            set(CURLOPT_UPLOAD, to: 1)
            _ = synchronizer_setopt_offset(easy, CURLOPT_INFILESIZE_LARGE, curl_off_t(exchange.body.length))
            let context = Unmanaged.passUnretained(transfer).toOpaque()
            _ = synchronizer_setopt_write(easy, CURLOPT_READFUNCTION, readCallback)
            _ = synchronizer_setopt_pointer(easy, CURLOPT_READDATA, context)
            _ = synchronizer_setopt_seek(easy, seekCallback)
            _ = synchronizer_setopt_pointer(easy, CURLOPT_SEEKDATA, context)
            if exchange.isAlone { set(CURLOPT_FRESH_CONNECT, to: 1) }
        } else if RequestLines.expectBody.contains(exchange.method) {
            set(CURLOPT_POST, to: 1)
            _ = synchronizer_setopt_string(easy, CURLOPT_COPYPOSTFIELDS, "")
        }
        _ = synchronizer_setopt_string(easy, CURLOPT_CUSTOMREQUEST, exchange.method)
    }
}

/// What the libcurl of this system can do.
enum CurlVersion {
    private static var info: curl_version_info_data? { curl_version_info(CURLVERSION_FIRST)?.pointee }
    static let number = info.map { String(cString: $0.version) } ?? ""
    /// Whether a paused stream of HTTP/2 stops its connection.
    static let pausesConnections = (info?.version_num ?? 0) < 0x080100
    static let hasHTTP3 = (info?.features ?? 0) & (1 << 25) != 0
}

private func transfer(_ context: UnsafeMutableRawPointer?) -> Transfer? {
    context.map { Unmanaged<Transfer>.fromOpaque($0).takeUnretainedValue() }
}

private let headerCallback: synchronizer_curl_write = { bytes, size, count, context in
    let line = UnsafeRawBufferPointer(start: bytes, count: size * count)
    return transfer(context)?.receiveLine(line) == true ? size * count : 0
}

private let writeCallback: synchronizer_curl_write = { bytes, size, count, context in
    switch transfer(context)?.receive(UnsafeRawBufferPointer(start: bytes, count: size * count)) {
    case .taken: size * count
    case .pause: Int(CURL_WRITEFUNC_PAUSE)
    case .fail, nil: 0
    }
}

/// Leaves lookups to `Resolver`: libcurl would start a thread for each lookup, even if many of them hang.
private let lookupCallback: synchronizer_curl_lookup = { _, _, context in
    guard let transfer = transfer(context) else { return 0 }
    return transfer.lookup.mayGoOn(transfer.exchange.namesToLookUp) ? 0 : 1
}

private let requestCallback: synchronizer_curl_request = { context, _, _, peer, own in
    let isAllowed = transfer(context)?.maySendRequest(on: ConnectionPorts(peer: peer, own: own)) == true
    return isAllowed ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT
}

private let tunnelCallback: synchronizer_curl_progress = { context, _, _, _, _ in
    transfer(context)?.mayGoOnInTunnel() == true ? 0 : 1
}

private let readCallback: synchronizer_curl_write = { space, size, count, context in
    transfer(context)?.send(into: UnsafeMutableRawBufferPointer(start: space, count: size * count))
        ?? Int(CURL_READFUNC_ABORT)
}

private let seekCallback: synchronizer_curl_seek = { context, offset, origin in
    origin == SEEK_SET && transfer(context)?.mayRewind(to: Int64(offset)) == true
        ? CURL_SEEKFUNC_OK : CURL_SEEKFUNC_FAIL
}
