import CCurl
import Foundation

/// Limits what a proxy may send in response to CONNECT. libcurl reads that response byte by byte, and does not stop while there are
/// more bytes. So a response without end would keep the engine's thread, and with it all sessions.
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
    /// something.
    /// - Returns: Whether libcurl may read on. If not, the transfer is aborted.
    func countTunnelRead() -> Bool {
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
}
