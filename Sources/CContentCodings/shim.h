// The decoders of content codings (RFC 9110 §8.4.1). `inflateInit2` is a macro, which Swift does not import.
#pragma once
#include <brotli/decode.h>
#include <zlib.h>
#include <zstd.h>

static inline int synchronizer_inflate_init(z_stream *stream, int window_bits) {
    return inflateInit2(stream, window_bits);
}
