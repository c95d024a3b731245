#ifdef __linux__

#include "planes.h"

#include <stdbool.h>
#include <string.h>

typedef float float4 __attribute__((vector_size(16), aligned(4)));
typedef float float8 __attribute__((vector_size(32), aligned(4)));
typedef int32_t int4 __attribute__((vector_size(16)));
typedef uint8_t byte4 __attribute__((vector_size(4)));
typedef uint8_t byte8 __attribute__((vector_size(8)));

enum { TOGETHER = 32 };

static inline __attribute__((always_inline)) void down(const uint8_t *samples, size_t width, const float *weights,
                                                       size_t rows, float *sums) {
    size_t x = 0;
    for (; x + TOGETHER <= width; x += TOGETHER) {
        float8 parts[TOGETHER / 8] = {{0}};
        for (size_t y = 0; y < rows; y++) {
            const uint8_t *row = samples + y * width + x;
            for (size_t i = 0; i < TOGETHER / 8; i++) {
                byte8 bytes;
                memcpy(&bytes, row + i * 8, sizeof bytes);
                parts[i] += __builtin_convertvector(bytes, float8) * weights[y];
            }
        }
        memcpy(sums + x, parts, sizeof parts);
    }
    for (; x < width; x++) {
        float sum = 0;
        for (size_t y = 0; y < rows; y++) sum += samples[y * width + x] * weights[y];
        sums[x] = sum;
    }
}

#ifdef __x86_64__
// Compiled twice. The version with AVX2 is used where the processor has it.
static __attribute__((target("avx2,fma"))) void down_avx2(const uint8_t *samples, size_t width, const float *weights,
                                                          size_t rows, float *sums) {
    down(samples, width, weights, rows, sums);
}
static bool has_avx2(void) { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }
#else
#define down_avx2 down
static bool has_avx2(void) { return false; }
#endif

void planes_down(const uint8_t *samples, size_t width, const float *weights, size_t rows, float *sums) {
    if (has_avx2()) return down_avx2(samples, width, weights, rows, sums);
    down(samples, width, weights, rows, sums);
}

void planes_across(const float *row, const scaling_span *spans, const float *weights, size_t count, float *sums) {
    for (size_t x = 0; x < count; x++) {
        const float *sample = row + spans[x].first, *weight = weights + spans[x].offset;
        float4 parts = {0};
        size_t i = 0;
        for (; i + 4 <= spans[x].count; i += 4) parts += *(const float4 *)(sample + i) * *(const float4 *)(weight + i);
        float sum = (parts[0] + parts[1]) + (parts[2] + parts[3]);
        for (; i < spans[x].count; i++) sum += sample[i] * weight[i];
        sums[x] = sum;
    }
}

void planes_mix(const float *luma, const float *blue, const float *red, uint8_t *pixels, size_t count) {
    // Adding this number leaves the value, rounded to the nearest integer, in the lowest bits.
    const float rounding = 12582912;
    const float4 of_luma = {1.164383f, 1.164383f, 1.164383f, 0}, of_blue = {2.017232f, -0.391762f, 0, 0};
    const float4 of_red = {0, -0.812968f, 1.596027f, 0}, opaque = {0, 0, 0, 255};
    for (size_t x = 0; x < count; x++) {
        float4 pixel = opaque + of_luma * (luma[x] - 16) + of_blue * (blue[x] - 128) + of_red * (red[x] - 128);
        pixel = __builtin_elementwise_min(__builtin_elementwise_max(pixel, (float4){0}), (float4){255, 255, 255, 255});
        byte4 bytes = __builtin_convertvector((int4)(pixel + rounding) & 0xFF, byte4);
        memcpy(pixels + x * 4, &bytes, sizeof bytes);
    }
}

#endif
