// libcurl for Swift, which imports neither variadic functions nor `setjmp`: one function for each kind of argument.
#pragma once
#include <curl/curl.h>
#include <linux/sockios.h>
#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>

typedef size_t (*synchronizer_curl_write)(char *bytes, size_t size, size_t count, void *context);
typedef int (*synchronizer_curl_seek)(void *context, curl_off_t offset, int origin);
typedef curl_socket_t (*synchronizer_curl_open)(void *context, curlsocktype purpose, struct curl_sockaddr *address);
typedef int (*synchronizer_curl_close)(void *context, curl_socket_t socket);
typedef int (*synchronizer_curl_lookup)(void *state, void *reserved, void *context);
typedef int (*synchronizer_curl_request)(void *context, char *peer, char *own, int peer_port, int own_port);
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

/// Has the calling thread receive no signal. A `SIGPIPE` of its own writes would stay pending and do nothing. Other threads that
/// run libcurl need no such protection: it writes with `MSG_NOSIGNAL`, from 7.87 on for OpenSSL, too.
static inline void synchronizer_block_signals(void) {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, 0);
}
