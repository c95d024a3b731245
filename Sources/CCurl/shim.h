// libcurl for Swift, which imports neither variadic functions nor `setjmp`: one function for each kind of argument.
#pragma once
#include <arpa/inet.h>
#include <curl/curl.h>
#include <dlfcn.h>
#include <errno.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>

typedef size_t (*synchronizer_curl_write)(char *bytes, size_t size, size_t count, void *context);
typedef int (*synchronizer_curl_seek)(void *context, curl_off_t offset, int origin);
typedef curl_socket_t (*synchronizer_curl_open)(void *context, curlsocktype purpose, struct curl_sockaddr *address);
typedef int (*synchronizer_curl_close)(void *context, curl_socket_t socket);
typedef int (*synchronizer_curl_lookup)(void *state, void *reserved, void *context);
typedef int (*synchronizer_curl_request)(void *context, char *peer, char *own, int peer_port, int own_port);
typedef CURLcode (*synchronizer_curl_tls)(CURL *easy, void *settings, void *context);
typedef void (*synchronizer_tls_event)(const void *tls, int event, int value);
typedef int (*synchronizer_curl_debug)(CURL *easy, curl_infotype type, char *bytes, size_t size, void *context);
typedef int (*synchronizer_curl_progress)(
    void *context, curl_off_t to_receive, curl_off_t received, curl_off_t to_send, curl_off_t sent);
typedef int (*synchronizer_curl_socket)(CURL *easy, curl_socket_t socket, int what, void *context, void *own);
typedef int (*synchronizer_curl_timer)(CURLM *multi, long milliseconds, void *context);

static inline CURLcode synchronizer_setopt_long(CURL *easy, CURLoption option, long value) {
    return curl_easy_setopt(easy, option, value);
}
static inline CURLcode synchronizer_setopt_string(CURL *easy, CURLoption option, const char *value) {
    return curl_easy_setopt(easy, option, value);
}
static inline CURLcode synchronizer_setopt_pointer(CURL *easy, CURLoption option, const void *value) {
    return curl_easy_setopt(easy, option, value);
}
static inline CURLcode synchronizer_setopt_offset(CURL *easy, CURLoption option, curl_off_t value) {
    return curl_easy_setopt(easy, option, value);
}
static inline CURLcode synchronizer_setopt_write(CURL *easy, CURLoption option, synchronizer_curl_write function) {
    return curl_easy_setopt(easy, option, function);
}
static inline CURLcode synchronizer_setopt_seek(CURL *easy, synchronizer_curl_seek function) {
    return curl_easy_setopt(easy, CURLOPT_SEEKFUNCTION, function);
}
static inline CURLcode synchronizer_setopt_lookup(CURL *easy, synchronizer_curl_lookup function) {
    return curl_easy_setopt(easy, CURLOPT_RESOLVER_START_FUNCTION, function);
}
static inline CURLcode synchronizer_setopt_request(CURL *easy, synchronizer_curl_request function) {
    return curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, function);
}
static inline CURLcode synchronizer_setopt_tls(CURL *easy, synchronizer_curl_tls function, void *context) {
    curl_easy_setopt(easy, CURLOPT_SSL_CTX_DATA, context);
    return curl_easy_setopt(easy, CURLOPT_SSL_CTX_FUNCTION, function);
}
static inline CURLcode synchronizer_setopt_progress(CURL *easy, synchronizer_curl_progress function, void *context) {
    curl_easy_setopt(easy, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(easy, CURLOPT_XFERINFODATA, context);
    return curl_easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, function);
}
static inline CURLcode synchronizer_setopt_debug(CURL *easy, synchronizer_curl_debug function, void *context) {
    curl_easy_setopt(easy, CURLOPT_DEBUGDATA, context);
    curl_easy_setopt(easy, CURLOPT_DEBUGFUNCTION, function);
    return curl_easy_setopt(easy, CURLOPT_VERBOSE, 1L);
}
static inline CURLcode synchronizer_setopt_sockets(
    CURL *easy, synchronizer_curl_open open, synchronizer_curl_close close, void *context) {
    curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, open);
    curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, context);
    curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, close);
    return curl_easy_setopt(easy, CURLOPT_CLOSESOCKETDATA, context);
}

static inline long synchronizer_info_long(CURL *easy, CURLINFO info) {
    long value = 0;
    return curl_easy_getinfo(easy, info, &value) == CURLE_OK ? value : 0;
}
static inline curl_off_t synchronizer_info_offset(CURL *easy, CURLINFO info) {
    curl_off_t value = 0;
    return curl_easy_getinfo(easy, info, &value) == CURLE_OK ? value : 0;
}
static inline const char *synchronizer_info_string(CURL *easy, CURLINFO info) {
    char *value = 0;
    return curl_easy_getinfo(easy, info, &value) == CURLE_OK ? value : 0;
}

static inline CURLMcode synchronizer_multi_long(CURLM *multi, CURLMoption option, long value) {
    return curl_multi_setopt(multi, option, value);
}
static inline void synchronizer_multi_callbacks(
    CURLM *multi, synchronizer_curl_socket socket, synchronizer_curl_timer timer, void *context) {
    curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, socket);
    curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, context);
    curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, timer);
    curl_multi_setopt(multi, CURLMOPT_TIMERDATA, context);
}

/// A transfer that has ended, and how; null if none has.
static inline CURL *synchronizer_multi_ended(CURLM *multi, CURLcode *code) {
    int left;
    CURLMsg *message;
    while ((message = curl_multi_info_read(multi, &left)))
        if (message->msg == CURLMSG_DONE) {
            *code = message->data.result;
            return message->easy_handle;
        }
    return 0;
}

/// Bytes that were written to a socket and that its peer has not acknowledged.
static inline int synchronizer_unacknowledged(int socket) {
    int count = 0;
    return ioctl(socket, SIOCOUTQ, &count) == 0 ? count : 0;
}

/// Whether the peer of a connection that is about to be closed may have received the bytes that were written to it. The last bytes, of
/// this count at most, do not matter.
///
/// It has not if it closed the connection before its kernel acknowledged the bytes. A reset alone says nothing about them: Linux
/// ignores the acknowledgement in it. If the connection was closed before it was reset, Linux reports `EPIPE` for the reset.
static inline bool synchronizer_may_be_received(int socket, int last) {
    if (synchronizer_unacknowledged(socket) <= last) return true;
    struct tcp_info info = {0};
    socklen_t size = sizeof(info);
    if (getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &size) != 0 || info.tcpi_state != TCP_CLOSE) return false;
    int error = 0;
    size = sizeof(error);
    return getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &size) == 0 && error != EPIPE;
}

/// The TLS library's object for the connection of a handle, and which library it is; null if there is none. The package does not
/// link the library, because libcurl has loaded it: `dlsym` finds its functions.
static inline void *synchronizer_tls(CURL *easy, curl_sslbackend *library) {
    struct curl_tlssessioninfo *session = 0;
    if (curl_easy_getinfo(easy, CURLINFO_TLS_SSL_PTR, &session) != CURLE_OK || !session) return 0;
    *library = session->backend;
    return session->internals;
}

/// Whether the TLS library has read bytes from the connection of a handle that libcurl has not taken. The kernel does not know of
/// them.
static inline bool synchronizer_has_decrypted(CURL *easy) {
    curl_sslbackend library = CURLSSLBACKEND_NONE;
    void *tls = synchronizer_tls(easy, &library);
    if (tls && library == CURLSSLBACKEND_OPENSSL) {
        int (*has_pending)(const void *) = (int (*)(const void *))dlsym(0, "SSL_has_pending");
        return has_pending && has_pending(tls);
    }
    if (tls && library == CURLSSLBACKEND_GNUTLS) {
        size_t (*check_pending)(void *) = (size_t(*)(void *))dlsym(0, "gnutls_record_check_pending");
        return check_pending && check_pending(tls) > 0;
    }
    return false;
}

/// Encrypts bytes as the next ones that the connection of a handle sends.
///
/// Memory takes the place of libcurl's BIO meanwhile. Outside of libcurl's own calls, the BIO of libcurl 7.88 and 8.0 uses a null
/// pointer if it can't write to the socket, or read from it. (OpenSSL reads if the server has asked for another handshake.)
///
/// Returns the size of the encrypted bytes. You must send them before libcurl sends anything. Returns 0 if nothing can be encrypted
/// now, or with another TLS library, and -1 if the connection can no longer be used.
static inline int synchronizer_encrypt(CURL *easy, const void *bytes, int count, void *encrypted, int room) {
    curl_sslbackend library = CURLSSLBACKEND_NONE;
    void *tls = synchronizer_tls(easy, &library);
    if (!tls || library != CURLSSLBACKEND_OPENSSL) return 0;
    int (*in_handshake)(const void *) = (int (*)(const void *))dlsym(0, "SSL_in_init");
    void *(*output)(const void *) = (void *(*)(const void *))dlsym(0, "SSL_get_wbio");
    void *(*input)(const void *) = (void *(*)(const void *))dlsym(0, "SSL_get_rbio");
    void (*set_output)(void *, void *) = (void (*)(void *, void *))dlsym(0, "SSL_set0_wbio");
    void (*set_input)(void *, void *) = (void (*)(void *, void *))dlsym(0, "SSL_set0_rbio");
    int (*write)(void *, const void *, int) = (int (*)(void *, const void *, int))dlsym(0, "SSL_write");
    const void *(*memory)(void) = (const void *(*)(void))dlsym(0, "BIO_s_mem");
    void *(*make)(const void *) = (void *(*)(const void *))dlsym(0, "BIO_new");
    int (*retain)(void *) = (int (*)(void *))dlsym(0, "BIO_up_ref");
    int (*release)(void *) = (int (*)(void *))dlsym(0, "BIO_free");
    int (*read)(void *, void *, int) = (int (*)(void *, void *, int))dlsym(0, "BIO_read");
    void (*clear_error)(void) = (void (*)(void))dlsym(0, "ERR_clear_error");
    if (!in_handshake || !output || !input || !set_output || !set_input || !write || !memory || !make || !retain || !release ||
        !read || !clear_error || in_handshake(tls))
        return 0;
    void *own_output = output(tls), *own_input = input(tls);
    void *written = own_output && own_input ? make(memory()) : 0, *nothing = written ? make(memory()) : 0;
    if (!nothing) {
        if (written) release(written);
        return 0;
    }
    retain(own_output);
    retain(own_input);
    set_output(tls, written);
    set_input(tls, nothing);
    int size = write(tls, bytes, count) == count ? read(written, encrypted, room) : -1;
    clear_error();
    set_output(tls, own_output);  // frees `written`
    set_input(tls, own_input);
    return size;
}

/// Whether client and server have agreed on HTTP/2 for the connection of a handle (ALPN, RFC 9113 §3.3). True for another TLS
/// library than OpenSSL and GnuTLS.
static inline bool synchronizer_negotiated_http2(CURL *easy) {
    curl_sslbackend library = CURLSSLBACKEND_NONE;
    void *tls = synchronizer_tls(easy, &library);
    if (!tls) return false;
    struct {
        const unsigned char *bytes;
        unsigned int size;
    } name = {0, 0};
    if (library == CURLSSLBACKEND_OPENSSL) {
        void (*selected)(const void *, const unsigned char **, unsigned int *) =
            (void (*)(const void *, const unsigned char **, unsigned int *))dlsym(0, "SSL_get0_alpn_selected");
        if (selected) selected(tls, &name.bytes, &name.size);
    } else if (library == CURLSSLBACKEND_GNUTLS) {
        int (*selected)(void *, void *) = (int (*)(void *, void *))dlsym(0, "gnutls_alpn_get_selected_protocol");
        if (!selected || selected(tls, &name) != 0) return false;
    } else {
        return true;
    }
    return name.size == 2 && name.bytes[0] == 'h' && name.bytes[1] == '2';
}

/// Initializes libcurl. Before that, initializes OpenSSL without its handler of `exit`, which frees what connections of other threads
/// may be using: then such a thread would crash the process. This has no effect if the program has used OpenSSL before.
static inline void synchronizer_curl_initialize(void) {
    int (*initialize)(uint64_t, const void *) = (int (*)(uint64_t, const void *))dlsym(0, "OPENSSL_init_crypto");
    if (initialize) initialize(0x00080000 /* OPENSSL_INIT_NO_ATEXIT */, 0);
    curl_global_init(CURL_GLOBAL_ALL);
}

/// An index at which each `SSL_CTX` of OpenSSL can keep a pointer of ours; -1 if libcurl uses another TLS library.
static inline int synchronizer_tls_index(void) {
    CURL *easy = curl_easy_init();
    curl_sslbackend library = CURLSSLBACKEND_NONE;
    if (easy) synchronizer_tls(easy, &library);
    curl_easy_cleanup(easy);
    int (*new_index)(int, long, void *, void *, void *, void *) =
        (int (*)(int, long, void *, void *, void *, void *))dlsym(0, "CRYPTO_get_ex_new_index");
    if (library != CURLSSLBACKEND_OPENSSL || !new_index) return -1;
    return new_index(1 /* CRYPTO_EX_INDEX_SSL_CTX */, 0, 0, 0, 0, 0);
}

/// Has OpenSSL call a function for the events of the connections of an `SSL_CTX`, which keeps a pointer for it.
static inline void synchronizer_report_tls(void *settings, int index, void *context, synchronizer_tls_event function) {
    int (*keep)(void *, int, void *) = (int (*)(void *, int, void *))dlsym(0, "SSL_CTX_set_ex_data");
    void (*report)(void *, synchronizer_tls_event) =
        (void (*)(void *, synchronizer_tls_event))dlsym(0, "SSL_CTX_set_info_callback");
    if (keep && report && keep(settings, index, context) == 1) report(settings, function);
}

/// The pointer that the `SSL_CTX` of a connection keeps; null if there is none.
static inline void *synchronizer_tls_context(const void *tls, int index) {
    void *(*settings)(const void *) = (void *(*)(const void *))dlsym(0, "SSL_get_SSL_CTX");
    void *(*kept)(const void *, int) = (void *(*)(const void *, int))dlsym(0, "SSL_CTX_get_ex_data");
    return index >= 0 && settings && kept ? kept(settings(tls), index) : 0;
}

/// Whether an event is that an alert has arrived with which the peer closes the connection.
static inline bool synchronizer_is_closure(int event, int value) {
    return event == 0x4004 /* SSL_CB_READ_ALERT */ && (value & 0xFF) == 0 /* SSL_AD_CLOSE_NOTIFY */;
}

static inline int synchronizer_port(const struct sockaddr_storage *address) {
    switch (address->ss_family) {
    case AF_INET: return ntohs(((const struct sockaddr_in *)address)->sin_port);
    case AF_INET6: return ntohs(((const struct sockaddr_in6 *)address)->sin6_port);
    default: return 0;
    }
}
/// The ports of a TCP connection, and the address of its peer, for which there must be room for `INET6_ADDRSTRLEN` bytes. The peer's
/// port is 0, and its address is empty, if the peer has reset the connection.
static inline void synchronizer_ports(int socket, int *peer, int *own, char *peer_address) {
    struct sockaddr_storage address = {0};
    socklen_t size = sizeof(address);
    bool has_peer = getpeername(socket, (struct sockaddr *)&address, &size) == 0;
    *peer = has_peer ? synchronizer_port(&address) : 0;
    const void *bytes = address.ss_family == AF_INET6 ? (const void *)&((const struct sockaddr_in6 *)&address)->sin6_addr
                                                      : (const void *)&((const struct sockaddr_in *)&address)->sin_addr;
    if (!has_peer || !inet_ntop(address.ss_family, bytes, peer_address, INET6_ADDRSTRLEN)) *peer_address = 0;
    size = sizeof(address);
    *own = getsockname(socket, (struct sockaddr *)&address, &size) == 0 ? synchronizer_port(&address) : 0;
}

/// Has the calling thread receive no signal. A `SIGPIPE` of its own writes would stay pending and do nothing. Other threads that
/// run libcurl need no such protection: it writes with `MSG_NOSIGNAL`, from 7.87 on for OpenSSL, too.
static inline void synchronizer_block_signals(void) {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, 0);
}
