// Loads with libcurl's multi interface on one thread: what a C program pays for the loads that bench-loading measures.
//
//     multi URL COUNT CONCURRENT [AUTHORITY]
//
// URL is followed by the number of each load. Each line on the standard input has a round done; each prints wall time and
// processor time of a load in nanoseconds. With an authority, all loads share one HTTP/2 connection.
#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

struct load {
    CURL *easy;
    char *body;
    size_t count, capacity;
};

static size_t receive(char *bytes, size_t size, size_t count, void *context) {
    struct load *load = context;
    if (load->count + count > load->capacity) {
        load->capacity = 2 * (load->count + count);
        load->body = realloc(load->body, load->capacity);
    }
    memcpy(load->body + load->count, bytes, count);
    load->count += count;
    return size * count;
}

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec + now.tv_nsec / 1e9;
}

static double processor_seconds(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_utime.tv_sec + usage.ru_stime.tv_sec + (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static void begin(CURLM *multi, struct load *load, const char *url, int number) {
    char text[1024];
    snprintf(text, sizeof text, "%s%d", url, number);
    free(load->body);
    load->body = NULL;
    load->count = load->capacity = 0;
    curl_easy_setopt(load->easy, CURLOPT_URL, text);
    curl_multi_add_handle(multi, load->easy);
}

static size_t run(CURLM *multi, struct load *loads, const char *url, int count, int concurrent) {
    int next = 0, ended = 0;
    size_t bytes = 0;
    for (; next < concurrent && next < count; next++) begin(multi, &loads[next], url, next);
    while (ended < count) {
        int running, left;
        curl_multi_perform(multi, &running);
        CURLMsg *message;
        while ((message = curl_multi_info_read(multi, &left))) {
            CURL *easy = message->easy_handle;
            CURLcode code = message->data.result;
            struct load *load;
            curl_easy_getinfo(easy, CURLINFO_PRIVATE, &load);
            if (code != CURLE_OK) {
                fprintf(stderr, "%s\n", curl_easy_strerror(code));
                exit(1);
            }
            curl_multi_remove_handle(multi, easy);
            bytes += load->count;
            ended++;
            if (next < count) begin(multi, load, url, next++);
        }
        if (ended < count) curl_multi_poll(multi, NULL, 0, 1000, NULL);
    }
    return bytes;
}

int main(int argc, char **argv) {
    if (argc < 4) return 2;
    int count = atoi(argv[2]), concurrent = atoi(argv[3]);
    curl_global_init(CURL_GLOBAL_ALL);
    CURLM *multi = curl_multi_init();
    curl_multi_setopt(multi, CURLMOPT_PIPELINING, CURLPIPE_MULTIPLEX);
    curl_multi_setopt(multi, CURLMOPT_MAX_HOST_CONNECTIONS, argc > 4 ? 1L : (long)concurrent);
    struct load *loads = calloc(concurrent, sizeof *loads);
    for (int index = 0; index < concurrent; index++) {
        CURL *easy = loads[index].easy = curl_easy_init();
        curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, receive);
        curl_easy_setopt(easy, CURLOPT_WRITEDATA, &loads[index]);
        curl_easy_setopt(easy, CURLOPT_PRIVATE, &loads[index]);
        curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
        curl_easy_setopt(easy, CURLOPT_FAILONERROR, 1L);
        // As Sources/CurlSession/Engine/Transfer+Handle.swift has them.
        curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, 32L << 10);
        curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
        curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_2TLS);
        curl_easy_setopt(easy, CURLOPT_HTTP_CONTENT_DECODING, 0L);
        curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
        curl_easy_setopt(easy, CURLOPT_MAXAGE_CONN, 50L);
        curl_easy_setopt(easy, CURLOPT_PROXY, "");
        curl_easy_setopt(easy, CURLOPT_USERAGENT, "multi");
        curl_easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, "gzip, deflate, br, zstd");
        if (argc > 4) {
            curl_easy_setopt(easy, CURLOPT_CAINFO, argv[4]);
            curl_easy_setopt(easy, CURLOPT_PIPEWAIT, 1L);
        }
    }
    char line[16];
    while (fgets(line, sizeof line, stdin)) {
        double wall = seconds(), processor = processor_seconds();
        size_t bytes = run(multi, loads, argv[1], count, concurrent);
        wall = seconds() - wall;
        processor = processor_seconds() - processor;
        printf("%.0f %.0f %zu\n", wall / count * 1e9, processor / count * 1e9, bytes);
        fflush(stdout);
    }
    return 0;
}
