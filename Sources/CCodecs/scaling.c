#ifdef __linux__

#include "scaling.h"

#include <string.h>

typedef float float2 __attribute__((vector_size(8), aligned(4)));
typedef float float4 __attribute__((vector_size(16), aligned(4)));
typedef float float8 __attribute__((vector_size(32), aligned(4)));
typedef int32_t int4 __attribute__((vector_size(16)));
typedef uint8_t byte4 __attribute__((vector_size(4)));

// Each body is compiled twice. The version with AVX2 is used where the processor has it.

static inline __attribute__((always_inline)) void across(
    const uint8_t *pixels, size_t width, float *floats, const scaling_span *spans, const float *weights, size_t count,
    float *result) {
    for (size_t i = 0; i < width * 4; i++) floats[i] = pixels[i];
    for (size_t x = 0; x < count; x++) {
        const float *pixel = floats + spans[x].first * 4, *weight = weights + spans[x].offset;
        float8 pairs = {0};
        size_t i = 0;
        for (; i + 2 <= spans[x].count; i += 2) {
            float2 two = *(const float2 *)(weight + i);
            pairs += *(const float8 *)(pixel + i * 4) * __builtin_shufflevector(two, two, 0, 0, 0, 0, 1, 1, 1, 1);
        }
        float4 sum = __builtin_shufflevector(pairs, pairs, 0, 1, 2, 3) + __builtin_shufflevector(pairs, pairs, 4, 5, 6, 7);
        if (i < spans[x].count) sum += *(const float4 *)(pixel + i * 4) * weight[i];
        *(float4 *)(result + x * 4) = sum;
    }
}

static inline __attribute__((always_inline)) void add(float *sums, const float *row, float weight, size_t count) {
    for (size_t i = 0; i < count * 4; i++) sums[i] += row[i] * weight;
}

static inline __attribute__((always_inline)) void finish(float *sums, uint8_t *pixels, size_t count) {
    // Adding this number leaves the value, rounded to the nearest integer, in the lowest bits.
    const float rounding = 12582912;
    for (size_t x = 0; x < count; x++) {
        float4 sum = *(float4 *)(sums + x * 4);
        // Negative weights can push a colour beyond its alpha and any value out of range.
        sum = __builtin_elementwise_min(__builtin_elementwise_max(sum, (float4){0}), (float4){255, 255, 255, 255});
        sum = __builtin_elementwise_min(sum, (float4)__builtin_shufflevector(sum, sum, 3, 3, 3, 3));
        byte4 pixel = __builtin_convertvector((int4)(sum + rounding) & 0xFF, byte4);
        memcpy(pixels + x * 4, &pixel, sizeof pixel);
    }
    memset(sums, 0, count * sizeof(float4));
}

#ifdef __x86_64__
#define CHOOSE(name, parameters, arguments)                                                   \
    static __attribute__((target("avx2,fma"))) void name##_avx2 parameters { name arguments; } \
    static void name##_plain parameters { name arguments; }                                   \
    void scaling_##name parameters {                                                           \
        if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) name##_avx2 arguments; \
        else name##_plain arguments;                                                            \
    }
#else
#define CHOOSE(name, parameters, arguments) void scaling_##name parameters { name arguments; }
#endif

CHOOSE(across,
       (const uint8_t *pixels, size_t width, float *floats, const scaling_span *spans, const float *weights,
        size_t count, float *result),
       (pixels, width, floats, spans, weights, count, result))
CHOOSE(add, (float *sums, const float *row, float weight, size_t count), (sums, row, weight, count))
CHOOSE(finish, (float *sums, uint8_t *pixels, size_t count), (sums, pixels, count))

#endif
