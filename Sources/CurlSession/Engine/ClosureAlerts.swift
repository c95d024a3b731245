import CCurl

/// Has OpenSSL report the alert (`close_notify`) with which a server closes a connection.
///
/// A response with neither a length nor chunks ends with its connection. Anyone on the way can end a connection, but only the
/// server can send the alert. Without the alert, the response is incomplete (RFC 9112 §9.8). libcurl 7.88 does not say whether the
/// alert has arrived, so OpenSSL calls `report` for what happens on a connection. With another TLS library there are no reports.
enum ClosureAlerts {
    /// Where an `SSL_CTX`, which libcurl makes for each connection, keeps the pool; -1 without OpenSSL.
    private static let index = synchronizer_tls_index()

    /// Has the new connections of a handle reported to a pool, which must live as long as they do.
    static func report(to pool: ConnectionPool, from easy: UnsafeMutableRawPointer) {
        guard index >= 0 else { return }
        _ = synchronizer_setopt_tls(easy, connectionCallback, Unmanaged.passUnretained(pool).toOpaque())
    }

    /// Whether the alerts of a connection are reported.
    static func areReported(_ tls: UnsafeMutableRawPointer) -> Bool { pool(of: tls) != nil }

    private static func pool(of tls: UnsafeRawPointer) -> ConnectionPool? {
        ConnectionPool.of(synchronizer_tls_context(tls, index))
    }

    private static let connectionCallback: synchronizer_curl_tls = { _, settings, context in
        synchronizer_report_tls(settings, index, context, eventCallback)
        return CURLE_OK
    }

    private static let eventCallback: synchronizer_tls_event = { tls, event, value in
        guard let tls, synchronizer_is_closure(event, value) else { return }
        pool(of: tls)?.wasClosed(tls)
    }
}
