import CCurl
import Foundation
import FoundationNetworking
import TestTraits
import Testing

@testable import CurlSession

@Suite(.bounded) struct TransferFailureTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var failure: TransferFailure
        var code: URLError.Code
        var tls: TLSFailure?
        var testDescription: String { "\(failure.code.rawValue) \(failure.verifyResult) \(failure.message)" }

        init(
            _ code: CURLcode, verify: Int = 0, says message: String = "", client: Bool = false, connect: Int = 0,
            _ error: URLError.Code, _ tls: TLSFailure? = nil
        ) {
            failure = TransferFailure(
                code: code, verifyResult: verify, message: message, hasClientCertificate: client, connectStatus: connect
            )
            (self.code, self.tls) = (error, tls)
        }
    }

    static let cases = [
        // libcurl 8.6's `CURLE_TOO_LARGE`.
        Case(CURLcode(rawValue: 100), says: "A value or data field grew larger than allowed", .badServerResponse),
        // As libcurl 7.88 with OpenSSL 3 tells it.
        Case(CURLE_PEER_FAILED_VERIFICATION, verify: 10, .serverCertificateHasBadDate, .expired),
        Case(CURLE_PEER_FAILED_VERIFICATION, verify: 9, .serverCertificateNotYetValid, .notYetValid),
        Case(CURLE_PEER_FAILED_VERIFICATION, verify: 18, .serverCertificateUntrusted, .selfSigned),
        Case(CURLE_PEER_FAILED_VERIFICATION, verify: 19, .serverCertificateHasUnknownRoot, .unknownAuthority),
        Case(CURLE_PEER_FAILED_VERIFICATION, verify: 20, .serverCertificateHasUnknownRoot, .unknownAuthority),
        Case(CURLE_PEER_FAILED_VERIFICATION, verify: 23, .serverCertificateUntrusted, .untrusted),
        Case(
            CURLE_PEER_FAILED_VERIFICATION, verify: 1,
            says: "SSL: no alternative certificate subject name matches target host name 'localhost'",
            .serverCertificateUntrusted, .wrongHost),
        Case(
            CURLE_PEER_FAILED_VERIFICATION, verify: 1, says: "SSL certificate verification failed", client: true,
            .clientCertificateRejected, .clientCertificateRejected),
        Case(
            CURLE_PEER_FAILED_VERIFICATION, verify: 1, says: "SSL certificate verification failed",
            .serverCertificateUntrusted, .untrusted),
        Case(CURLE_PEER_FAILED_VERIFICATION, verify: 62, .serverCertificateUntrusted, .wrongHost),
        Case(CURLE_SSL_PINNEDPUBKEYNOTMATCH, .secureConnectionFailed, .pinnedKey),
        Case(CURLE_SSL_CACERT_BADFILE, .secureConnectionFailed, .authoritiesUnusable),
        Case(CURLE_SSL_CERTPROBLEM, client: true, .clientCertificateRejected, .clientCertificateUnusable),
        Case(
            CURLE_SSL_CONNECT_ERROR, verify: 1, says: "error:0A00010B:SSL routines::wrong version number",
            .secureConnectionFailed, .handshake),
        Case(
            CURLE_SSL_CONNECT_ERROR, verify: 1, says: "error:0A00042E:SSL routines::tlsv1 alert protocol version",
            client: true,
            .secureConnectionFailed, .handshake),
        Case(
            CURLE_RECV_ERROR,
            says: "OpenSSL SSL_read: error:0A00045C:SSL routines::tlsv13 alert certificate required, errno 0",
            .clientCertificateRequired, .clientCertificateRequired),
        Case(
            CURLE_RECV_ERROR, says: "OpenSSL SSL_read: error:0A000418:SSL routines::tlsv1 alert unknown ca, errno 0",
            client: true, .clientCertificateRejected, .clientCertificateRejected),
        Case(
            CURLE_RECV_ERROR,
            says: "OpenSSL SSL_read: error:0A000119:SSL routines::decryption failed or bad record mac, errno 0",
            .secureConnectionFailed, .handshake),
        Case(
            CURLE_RECV_ERROR,
            says: "OpenSSL SSL_read: error:0A000126:SSL routines::unexpected eof while reading, errno 0",
            .networkConnectionLost),
        Case(CURLE_SSL_CLIENTCERT, .clientCertificateRequired, .clientCertificateRequired),
        Case(CURLE_SSL_CLIENTCERT, client: true, .clientCertificateRejected, .clientCertificateRejected),
        Case(CURLE_RECV_ERROR, says: "Recv failure: Connection reset by peer", .networkConnectionLost),
        Case(CURLE_RECV_ERROR, connect: 407, .userAuthenticationRequired),
        Case(CURLE_RECV_ERROR, connect: 503, .cannotConnectToHost),
        Case(CURLE_RECV_ERROR, connect: 100, .cannotConnectToHost),
        Case(CURLE_RECV_ERROR, connect: 200, .networkConnectionLost),
        Case(CURLE_RECV_ERROR, says: "Too large response headers: 307201 > 307200", .dataLengthExceedsMaximum),
        Case(CURLE_UNSUPPORTED_PROTOCOL, says: "Unsupported response code in HTTP response", .badServerResponse),
        Case(CURLE_UNSUPPORTED_PROTOCOL, says: "Received HTTP/0.9 when not allowed", .badServerResponse),
        Case(CURLE_UNSUPPORTED_PROTOCOL, says: "Send failure: Broken pipe", .badServerResponse),
        Case(
            CURLE_UNSUPPORTED_PROTOCOL, says: "Protocol \"ftp\" not supported or disabled in libcurl", .unsupportedURL),
        Case(CURLE_COULDNT_RESOLVE_HOST, .cannotFindHost), Case(CURLE_COULDNT_RESOLVE_PROXY, .cannotConnectToHost),
        Case(CURLE_COULDNT_CONNECT, .cannotConnectToHost), Case(CURLE_OPERATION_TIMEDOUT, .timedOut),
        Case(CURLE_PARTIAL_FILE, .networkConnectionLost), Case(CURLE_GOT_NOTHING, .networkConnectionLost),
        Case(CURLE_HTTP2_STREAM, .networkConnectionLost), Case(CURLE_HTTP2, .networkConnectionLost),
        Case(CURLE_WEIRD_SERVER_REPLY, .badServerResponse), Case(CURLE_BAD_FUNCTION_ARGUMENT, .badServerResponse),
        Case(CURLE_URL_MALFORMAT, .badURL), Case(CURLE_FAILED_INIT, .unknown),
    ]

    @Test(arguments: cases) func `each failure has its error`(_ item: Case) {
        let error = item.failure.error
        #expect(error.code == item.code)
        #expect(error.tlsFailure == item.tls)
        let text = error.userInfo[NSLocalizedDescriptionKey] as? String
        #expect(item.failure.message.isEmpty ? text?.isEmpty == false : text == item.failure.message)
    }

    @Test func `libcurl's texts about its memory and its arguments are replaced`() {
        for (code, message) in [
            (CURLE_OUT_OF_MEMORY, "Out of memory"), (CURLE_BAD_FUNCTION_ARGUMENT, "A libcurl function"),
        ] {
            let error = TransferFailure(code: code, message: message).error
            #expect(error.code == .badServerResponse && error.localizedDescription.contains("of the response"))
        }
    }
}
