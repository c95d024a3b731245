// libcurl for Swift, which imports neither variadic functions nor `setjmp`: one function for each kind of argument.
#pragma once
#include <curl/curl.h>

typedef size_t (*synchronizer_curl_write)(char *bytes, size_t size, size_t count, void *context);

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
