import CCurl
import Foundation

/// How a proxy responds to CONNECT, and which tunnels are used again.
extension Transfer {
    /// The maximum number of bytes of such a response that libcurl reads in one call. If there are no more bytes for the moment,
    /// the call returns, and the time-outs apply.
    private static let maximumReads = 64 << 10

    /// How often libcurl has asked whether it may go on, in one call.
    struct TunnelReads {
        fileprivate var call = 0
        fileprivate var count = 0
    }

    /// Counts a read. libcurl calls this for each byte of the response to CONNECT, and a few times in each call while it transfers
    /// something. It reads that response byte by byte, and does not stop while there are more bytes. So a response without end
    /// would keep the engine's thread, and with it all sessions.
    /// - Returns: Whether libcurl may read on. If not, the transfer is aborted.
    func countTunnelRead() -> Bool {
        guard failure == nil else { return false }
        if tunnelReads.call != pool.calls { tunnelReads = TunnelReads(call: pool.calls) }
        tunnelReads.count += 1
        guard tunnelReads.count > Self.maximumReads else { return true }
        // The rest of a refusal is of no use, so the proxy's challenge can still be answered.
        let isRefusal = easy.map { synchronizer_info_long($0, CURLINFO_HTTP_CONNECTCODE) } == 407
        abort = .failure(
            URLError(
                isRefusal ? .userAuthenticationRequired : .cannotConnectToHost,
                because: "the proxy's response to CONNECT is too long"))
        return false
    }

    /// Takes a part of libcurl's log, which has the head of the response to CONNECT.
    ///
    /// libcurl could pass this head on like that of a server, but it would then also keep the fields, and libcurl 7.88 would fail
    /// for lines that it otherwise ignores. If such a transfer were started again, libcurl before 8.4 could use a field that it has
    /// freed.
    func noteLog(_ type: curl_infotype, _ bytes: UnsafeRawBufferPointer) {
        switch type {
        case CURLINFO_HEADER_OUT: tunnelHead.sent(bytes)
        case CURLINFO_HEADER_IN:
            guard tunnelHead.received(bytes), !libcurlHasCredential, failure == nil else { return }
            abort = .failure(URLError(.userAuthenticationRequired))
            // This runs in a callback of libcurl, which must not call libcurl. libcurl would first read the body, which may never
            // come.
            let task = task
            pool.perform { task.transfer?.endIfRefused() }
        default: break
        }
    }

    /// Whether libcurl itself answers a challenge of the proxy.
    private var libcurlHasCredential: Bool { exchange.proxy?.user != nil && tunnelAuthorization == nil }

    private func endIfRefused() {
        guard easy != nil, let failure, failure.code == .userAuthenticationRequired else { return }
        pool.engine.touch(pool)
        pool.finish(self, error: failure)
    }

    /// Whether the tunnel that libcurl has chosen is one that this request has opened, or one that was opened with the same
    /// `Proxy-Authorization`. True without a tunnel.
    /// - Parameter isNew: Whether libcurl has made the connection for this transfer.
    func isOwnTunnel(isNew: Bool) -> Bool {
        guard exchange.usesTunnel, let easy else { return true }
        var library = CURLSSLBACKEND_NONE
        let connection = UInt(bitPattern: synchronizer_tls(easy, &library))
        guard isNew else { return pool.tunnels.isOpen(connection, for: tunnelAuthorization) }
        pool.tunnels.opened(connection, with: tunnelAuthorization)
        return true
    }
}
