#include "CImageProcessing.h"

#include <string.h>

#if defined(__linux__) && defined(__x86_64__)

typedef uint8_t byte32 __attribute__((vector_size(32), aligned(1)));

enum { STEP = 128, AHEAD = 1024, LINE = 64 };

// Stores are aligned. The next row is prefetched, because the processor's own prefetching ends at the gap between two rows.
// Needs rows of at least 32 bytes.
__attribute__((target("avx2"))) static void copy_row(const uint8_t *pixels, size_t stride, uint8_t *result, size_t length) {
    *(byte32 *)result = *(const byte32 *)pixels;
    size_t i = 32 - ((uintptr_t)result & 31);
    for (; i + STEP <= length; i += STEP) {
        for (size_t line = 0; line < STEP; line += LINE) {
            __builtin_prefetch(result + i + AHEAD + line, 1);
            __builtin_prefetch(pixels + stride + i + line);
        }
        byte32 moved[STEP / 32];
        for (size_t part = 0; part < STEP / 32; part++) moved[part] = *(const byte32 *)(pixels + i + part * 32);
        for (size_t part = 0; part < STEP / 32; part++) *(byte32 *)(result + i + part * 32) = moved[part];
    }
    for (; i + 32 <= length; i += 32) *(byte32 *)(result + i) = *(const byte32 *)(pixels + i);
    *(byte32 *)(result + length - 32) = *(const byte32 *)(pixels + length - 32);
}

#endif

void pixels_copy_rows(const uint8_t *pixels, size_t stride, uint8_t *result, size_t length, size_t rows) {
#if defined(__linux__) && defined(__x86_64__)
    if (length >= 32 && __builtin_cpu_supports("avx2")) {
        for (; rows > 0; rows--, pixels += stride, result += length) copy_row(pixels, stride, result, length);
        return;
    }
#endif
    for (; rows > 0; rows--, pixels += stride, result += length) memcpy(result, pixels, length);
}
