import CCurl
import Foundation

/// The handle of a transfer: its options, and the callbacks by which libcurl reaches the transfer.
extension Transfer {
    /// Creates a handle with the options that all requests share.
    static func makeHandle(for pool: ConnectionPool) -> UnsafeMutableRawPointer? {
        guard let easy = curl_easy_init() else { return nil }
        func set(_ option: CURLoption, to value: Int) { _ = synchronizer_setopt_long(easy, option, value) }
        set(CURLOPT_NOSIGNAL, to: 1)
        // libcurl must not use other protocols, whatever the URL's scheme is.
        _ = synchronizer_setopt_string(easy, CURLOPT_PROTOCOLS_STR, "http,https")
        set(CURLOPT_FOLLOWLOCATION, to: 0)
        // The fields of a proxy's response to CONNECT are not the server's. A field for the proxy is not for the server.
        set(CURLOPT_SUPPRESS_CONNECT_HEADERS, to: 1)
        set(CURLOPT_HEADEROPT, to: Int(CURLHEADER_SEPARATE))
        // libcurl sends the path of `Exchange` unchanged. Digest and the cookies rely on that.
        set(CURLOPT_PATH_AS_IS, to: 1)
        set(CURLOPT_HTTP_VERSION, to: CurlVersion.httpVersion)
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
        pool.options.tls.apply(to: easy)
        // `ProxyRules` has already read the environment, so libcurl must not read it.
        _ = synchronizer_setopt_string(easy, CURLOPT_PROXY, "")
        _ = synchronizer_setopt_string(easy, CURLOPT_NOPROXY, "")
        setCallbacks(of: easy, for: pool)
        return easy
    }

    private static func setCallbacks(of easy: UnsafeMutableRawPointer, for pool: ConnectionPool) {
        _ = synchronizer_setopt_write(easy, CURLOPT_HEADERFUNCTION, headerCallback)
        _ = synchronizer_setopt_write(easy, CURLOPT_WRITEFUNCTION, writeCallback)
        let context = Unmanaged.passUnretained(pool).toOpaque()
        _ = synchronizer_setopt_sockets(easy, openSocketCallback, closeSocketCallback, context)
        _ = synchronizer_setopt_lookup(easy, lookupCallback)
        _ = synchronizer_setopt_request(easy, requestCallback)
    }

    /// The transfer as libcurl passes it to the callbacks.
    private var context: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

    /// Makes the handle send the request of this transfer, apart from its field lines.
    func setRequest(on easy: UnsafeMutableRawPointer) {
        _ = synchronizer_setopt_string(easy, CURLOPT_URL, exchange.target)
        _ = synchronizer_setopt_pointer(easy, CURLOPT_HEADERDATA, context)
        _ = synchronizer_setopt_pointer(easy, CURLOPT_WRITEDATA, context)
        _ = synchronizer_setopt_pointer(easy, CURLOPT_RESOLVER_START_DATA, context)
        _ = synchronizer_setopt_pointer(easy, CURLOPT_PREREQDATA, context)
        _ = synchronizer_setopt_pointer(easy, CURLOPT_ERRORBUFFER, message)
        if exchange.isEncrypted { ClosureAlerts.report(to: pool, from: easy) }
        if exchange.isSecure { pool.options.tls.pin(exchange.url.host.flatMap(HostName.canonical), on: easy) }
        _ = synchronizer_setopt_long(easy, CURLOPT_PIPEWAIT, exchange.isSecure ? 1 : 0)
        if exchange.isSecure, CurlVersion.needsRoomForHeads {
            _ = synchronizer_setopt_long(easy, CURLOPT_BUFFERSIZE, pool.options.bufferSize)
        }
        if let proxy = exchange.proxy { use(proxy, on: easy) }
        let patience = exchange.idleLimit.map { Int(clamping: $0 / 1_000_000) } ?? 0
        _ = synchronizer_setopt_long(easy, CURLOPT_CONNECTTIMEOUT_MS, patience == 0 ? Int(Int32.max) : patience)
        setMethod(on: easy)
    }

    /// Makes libcurl use a new connection, if the request needs one now.
    func chooseConnection() {
        guard let easy else { return }
        avoidsLarge = pool.mustAvoidLarge(self)
        let isNew = avoidsLarge || needsNewConnection || exchange.isAlone
        _ = synchronizer_setopt_long(easy, CURLOPT_FRESH_CONNECT, isNew ? 1 : 0)
    }

    /// Sets the proxy. libcurl itself sends the credentials to a SOCKS proxy, and to an HTTP proxy when it asks for a tunnel
    /// (CONNECT), unless the request has a `Proxy-Authorization` of its own. Other requests carry the credentials in their fields.
    private func use(_ proxy: ProxyRules.Proxy, on easy: UnsafeMutableRawPointer) {
        _ = synchronizer_setopt_string(easy, CURLOPT_PROXY, proxy.url)
        if proxy.url.hasPrefix("https:") {
            pool.options.tls.applyToProxy(of: easy)
            if CurlVersion.overlooksEnds {
                // The session can't send a PING through the proxy's TLS.
                _ = synchronizer_setopt_long(easy, CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1))
            }
        }
        if exchange.usesTunnel {
            _ = synchronizer_setopt_progress(easy, tunnelCallback, context)
            _ = synchronizer_setopt_debug(easy, logCallback, context)
        }
        guard exchange.isSecure || proxy.url.hasPrefix("socks"), tunnelAuthorization == nil else { return }
        _ = synchronizer_setopt_long(easy, CURLOPT_PROXYAUTH, proxy.schemes)
        _ = synchronizer_setopt_string(easy, CURLOPT_PROXYUSERNAME, proxy.user)
        _ = synchronizer_setopt_string(easy, CURLOPT_PROXYPASSWORD, proxy.password)
    }

    /// Receives a line of a head. After a pause, libcurl delivers all lines that it has kept at once.
    func receiveLines(_ lines: UnsafeRawBufferPointer) -> Bool {
        var rest = lines[...]
        while let start = rest.base.baseAddress.map({ $0 + rest.startIndex }), rest.count > 1,
            let end = memchr(start, 0x0A, rest.count - 1)
        {
            let count = UnsafeRawPointer(end) - start + 1
            guard receiveLine(UnsafeRawBufferPointer(start: start, count: count)) else { return false }
            rest = rest.dropFirst(count)
        }
        return receiveLine(UnsafeRawBufferPointer(rebasing: rest))
    }

    private func setMethod(on easy: UnsafeMutableRawPointer) {
        func set(_ option: CURLoption, to value: Int) { _ = synchronizer_setopt_long(easy, option, value) }
        if exchange.method == "GET" { return set(CURLOPT_HTTPGET, to: 1) }
        if exchange.method == "HEAD" { return set(CURLOPT_NOBODY, to: 1) }
        if !exchange.body.isEmpty {
            set(CURLOPT_UPLOAD, to: 1)
            _ = synchronizer_setopt_offset(easy, CURLOPT_INFILESIZE_LARGE, curl_off_t(exchange.body.length))
            _ = synchronizer_setopt_write(easy, CURLOPT_READFUNCTION, readCallback)
            _ = synchronizer_setopt_pointer(easy, CURLOPT_READDATA, context)
            _ = synchronizer_setopt_seek(easy, seekCallback)
            _ = synchronizer_setopt_pointer(easy, CURLOPT_SEEKDATA, context)
        } else if RequestLines.expectBody.contains(exchange.method) {
            set(CURLOPT_POST, to: 1)
            _ = synchronizer_setopt_string(easy, CURLOPT_COPYPOSTFIELDS, "")
        }
        _ = synchronizer_setopt_string(easy, CURLOPT_CUSTOMREQUEST, exchange.method)
    }
}

private func transfer(_ context: UnsafeMutableRawPointer?) -> Transfer? {
    context.map { Unmanaged<Transfer>.fromOpaque($0).takeUnretainedValue() }
}

private let headerCallback: synchronizer_curl_write = { bytes, size, count, context in
    let lines = UnsafeRawBufferPointer(start: bytes, count: size * count)
    return transfer(context)?.receiveLines(lines) == true ? size * count : 0
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
    return transfer.lookup.findMissing(in: transfer.exchange.namesToLookUp) == nil ? 0 : 1
}

private let requestCallback: synchronizer_curl_request = { context, address, _, peer, own in
    let ports = ConnectionPorts(address: address.map { String(cString: $0) } ?? "", peer: peer, own: own)
    let isAllowed = transfer(context)?.beginSending(on: ports) == true
    return isAllowed ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT
}

private let tunnelCallback: synchronizer_curl_progress = { context, _, _, _, _ in
    transfer(context)?.countTunnelRead() == true ? 0 : 1
}

private let logCallback: synchronizer_curl_debug = { _, type, bytes, size, context in
    transfer(context)?.noteLog(type, UnsafeRawBufferPointer(start: bytes, count: size))
    return 0
}

private let readCallback: synchronizer_curl_write = { space, size, count, context in
    transfer(context)?.send(into: UnsafeMutableRawBufferPointer(start: space, count: size * count))
        ?? Int(CURL_READFUNC_ABORT)
}

private let seekCallback: synchronizer_curl_seek = { context, offset, origin in
    origin == SEEK_SET && transfer(context)?.mayRewind(to: Int64(offset)) == true
        ? CURL_SEEKFUNC_OK : CURL_SEEKFUNC_FAIL
}
