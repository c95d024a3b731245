import CCurl
import Foundation
import FoundationNetworking
import TransportSecurity

/// How a transfer failed according to libcurl, and the `URLSession` error for it. Pure.
struct TransferFailure: Sendable, Hashable {
    var code: CURLcode
    /// `CURLINFO_SSL_VERIFYRESULT`: OpenSSL's `X509_V_ERR_…`.
    var verifyResult = 0
    /// libcurl's error message. It names the TLS alert that a server sent.
    var message = ""
    /// Whether the session has a client certificate.
    var hasClientCertificate = false
    /// The status of a proxy's response to CONNECT; 0 without one.
    var connectStatus = 0

    /// The error. Its `userInfo` has libcurl's message, and the `TLSFailure` if TLS failed.
    var error: URLError {
        var info: [String: Any] = [NSLocalizedDescriptionKey: description]
        let failure = tlsFailure
        if let failure { info[TLSFailure.userInfoKey] = failure.rawValue }
        return URLError(failure?.code ?? urlErrorCode, userInfo: info)
    }

    private var description: String {
        switch code {
        // libcurl's own text would be about its arguments or its memory: see `urlErrorCode`.
        case CURLE_BAD_FUNCTION_ARGUMENT: "the head of the response begins with a continuation line"
        case CURLE_OUT_OF_MEMORY: "a line of the response is too long, or there is no memory"
        default: message.isEmpty ? String(cString: curl_easy_strerror(code)) : message
        }
    }

    private var urlErrorCode: URLError.Code {
        switch code {
        case CURLE_RECV_ERROR where connectStatus == 407, CURLE_COULDNT_CONNECT where connectStatus == 407:
            .userAuthenticationRequired
        case CURLE_URL_MALFORMAT: .badURL
        case CURLE_UNSUPPORTED_PROTOCOL:
            // libcurl also reports this for a status or a version that it does not know. If it has sent the request twice, the
            // message is about the first time.
            message.contains("Protocol \"") ? .unsupportedURL : .badServerResponse
        case CURLE_COULDNT_RESOLVE_HOST: .cannotFindHost
        case CURLE_COULDNT_RESOLVE_PROXY, CURLE_COULDNT_CONNECT, CURLE_INTERFACE_FAILED, CURLE_PROXY:
            .cannotConnectToHost
        case CURLE_OPERATION_TIMEDOUT: .timedOut
        case CURLE_WEIRD_SERVER_REPLY, CURLE_FILESIZE_EXCEEDED: .badServerResponse
        case CURLE_BAD_CONTENT_ENCODING: .cannotDecodeContentData
        case CURLE_BAD_FUNCTION_ARGUMENT, CURLE_OUT_OF_MEMORY, Self.tooLarge:
            // libcurl 7.88 reports the first two for a head that begins with a continuation line, and for a line of more than
            // 100 KB. For such a line, libcurl 8.6 and later report `tooLarge`.
            .badServerResponse
        case CURLE_RECV_ERROR where connectStatus != 0 && !(200..<300).contains(connectStatus): .cannotConnectToHost
        case CURLE_RECV_ERROR where message.contains("Too large response headers"): .dataLengthExceedsMaximum
        case CURLE_GOT_NOTHING, CURLE_PARTIAL_FILE, CURLE_RECV_ERROR, CURLE_SEND_ERROR, CURLE_SEND_FAIL_REWIND,
            CURLE_HTTP2, CURLE_HTTP2_STREAM, CURLE_HTTP3, CURLE_QUIC_CONNECT_ERROR:
            .networkConnectionLost
        default: .unknown
        }
    }

    /// `CURLE_TOO_LARGE`, which older headers do not have.
    private static let tooLarge = CURLcode(rawValue: 100)

    private var tlsFailure: TLSFailure? {
        switch code {
        case CURLE_PEER_FAILED_VERIFICATION where hasClientCertificate && isClientExpired: .clientCertificateRejected
        case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_INVALIDCERTSTATUS: distrust
        case CURLE_SSL_PINNEDPUBKEYNOTMATCH: .pinnedKey
        case CURLE_SSL_CACERT_BADFILE: .authoritiesUnusable
        case CURLE_SSL_CERTPROBLEM: .clientCertificateUnusable
        case CURLE_SSL_CLIENTCERT: hasClientCertificate ? .clientCertificateRejected : .clientCertificateRequired
        case CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CIPHER, CURLE_SSL_ENGINE_NOTFOUND, CURLE_SSL_ENGINE_SETFAILED,
            CURLE_SSL_ENGINE_INITFAILED, CURLE_USE_SSL_FAILED:
            alert ?? .handshake
        // With TLS 1.3, the client has already completed the handshake when a server rejects its certificate.
        case CURLE_RECV_ERROR, CURLE_SEND_ERROR: alert ?? (isForged ? .handshake : nil)
        default: nil
        }
    }

    /// Whether OpenSSL failed because of the bytes that it received, such as a record that it cannot decrypt, and not because the
    /// connection ended.
    private var isForged: Bool { message.contains("SSL routines") && !message.contains("unexpected eof") }

    /// Whether the server has said that the client's certificate has expired. libcurl takes this alert for a failed verification of
    /// the server, but OpenSSL has no failure to name.
    private var isClientExpired: Bool { message == "SSL certificate verification failed" }

    /// Why the certificate is not trusted. The numbers are those of OpenSSL's x509_vfy.h. If libcurl fails before it verifies the
    /// chain, the number is 1, and only the message names the failure.
    private var distrust: TLSFailure {
        switch verifyResult {
        case 10, 12: .expired
        case 9, 11: .notYetValid
        case 18: .selfSigned
        case 2, 19, 20, 21, 27: .unknownAuthority
        case 62, 64: .wrongHost
        default: message.contains("subject name") || message.contains("host name") ? .wrongHost : .untrusted
        }
    }

    /// The failure if the server's alert concerns the client's certificate (RFC 8446 §6.2); nil otherwise.
    private var alert: TLSFailure? {
        guard message.contains("alert") else { return nil }
        if message.contains("certificate required") { return .clientCertificateRequired }
        let rejections = [
            "bad certificate", "unsupported certificate", "certificate revoked", "certificate expired",
            "certificate unknown",
            "unknown ca", "access denied",
        ]
        guard hasClientCertificate, rejections.contains(where: message.contains) else { return nil }
        return .clientCertificateRejected
    }
}
