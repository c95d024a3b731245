import CCurl
import Foundation
import FoundationNetworking

/// What a result of libcurl means as an error of `URLSession`. Pure.
enum CurlCode {
    static func error(for code: CURLcode) -> URLError {
        switch code {
        case CURLE_URL_MALFORMAT: URLError(.badURL)
        case CURLE_UNSUPPORTED_PROTOCOL: URLError(.unsupportedURL)
        case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY: URLError(.cannotFindHost)
        case CURLE_COULDNT_CONNECT, CURLE_INTERFACE_FAILED, CURLE_PROXY: URLError(.cannotConnectToHost)
        case CURLE_OPERATION_TIMEDOUT: URLError(.timedOut)
        case CURLE_WEIRD_SERVER_REPLY, CURLE_BAD_CONTENT_ENCODING, CURLE_FILESIZE_EXCEEDED:
            URLError(.badServerResponse)
        case CURLE_GOT_NOTHING, CURLE_PARTIAL_FILE, CURLE_RECV_ERROR, CURLE_SEND_ERROR, CURLE_SEND_FAIL_REWIND,
            CURLE_HTTP2, CURLE_HTTP2_STREAM, CURLE_HTTP3, CURLE_QUIC_CONNECT_ERROR:
            URLError(.networkConnectionLost)
        case CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CIPHER, CURLE_SSL_ENGINE_NOTFOUND, CURLE_SSL_SHUTDOWN_FAILED:
            URLError(.secureConnectionFailed)
        case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_PINNEDPUBKEYNOTMATCH,
            CURLE_SSL_INVALIDCERTSTATUS, CURLE_SSL_CACERT_BADFILE:
            URLError(.serverCertificateUntrusted)
        case CURLE_SSL_CERTPROBLEM, CURLE_SSL_CLIENTCERT: URLError(.clientCertificateRejected)
        default: URLError(.unknown)
        }
    }
}
