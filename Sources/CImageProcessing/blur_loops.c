#include "blur_loops.h"

typedef float float4 __attribute__((vector_size(16), aligned(4)));
typedef float float8 __attribute__((vector_size(32), aligned(4)));

#define INLINE static inline __attribute__((always_inline))

// Each body is compiled twice. The version with AVX2 is used where the processor has it.

INLINE void widen(const uint8_t *pixels, float *floats, size_t count) {
    for (size_t i = 0; i < count * 4; i++) floats[i] = pixels[i];
}

INLINE void across(const float *pixels, size_t step, const float *weights, size_t taps, float *result, size_t count) {
    for (size_t x = 0; x < count; x += BLUR_OUTPUTS, pixels += BLUR_OUTPUTS * step * 4) {
        // Several sums at once hide the latency of additions.
        float8 sums[BLUR_OUTPUTS] = {0};
        for (size_t tap = 0; tap < taps; tap += 2) {
            float8 weight = *(const float8 *)(weights + tap * 4);
            for (size_t i = 0; i < BLUR_OUTPUTS; i++)
                sums[i] += *(const float8 *)(pixels + (i * step + tap) * 4) * weight;
        }
        for (size_t i = 0; i < BLUR_OUTPUTS; i++)
            *(float4 *)(result + (x + i) * 4) = __builtin_shufflevector(sums[i], sums[i], 0, 1, 2, 3)
                + __builtin_shufflevector(sums[i], sums[i], 4, 5, 6, 7);
    }
}

INLINE void down(const float *const *rows, const float *weights, size_t taps, float *result, size_t count) {
    enum { SUMS = BLUR_FLOATS / 8 };
    for (size_t x = 0; x < count; x += BLUR_FLOATS) {
        float8 sums[SUMS] = {0};
        for (size_t tap = 0; tap < taps; tap++)
            for (size_t i = 0; i < SUMS; i++) sums[i] += *(const float8 *)(rows[tap] + x + i * 8) * weights[tap];
        for (size_t i = 0; i < SUMS; i++) *(float8 *)(result + x + i * 8) = sums[i];
    }
}

INLINE void enlarge(const float *pixels, size_t step, const float *weights, float *result, size_t count) {
    for (size_t x = 0; x < count; pixels += 4) {
        float4 neighbours[4];
        for (size_t i = 0; i < 4; i++) neighbours[i] = *(const float4 *)(pixels + i * 4);
        for (size_t place = 0; place < step && x < count; place++, x++) {
            float4 sum = {0};
            for (size_t i = 0; i < 4; i++) sum += neighbours[i] * weights[place * 4 + i];
            *(float4 *)(result + x * 4) = sum;
        }
    }
}

INLINE void round_all(const float *floats, uint8_t *bytes, size_t count) {
    for (size_t i = 0; i < count; i++) bytes[i] = (uint8_t)(int)(floats[i] + 0.5f);
}

#if defined(__linux__) && defined(__x86_64__)
#define CHOOSE(name, body, parameters, arguments)                                             \
    static __attribute__((target("avx2,fma"))) void name##_avx2 parameters { body arguments; } \
    static void name##_plain parameters { body arguments; }                                   \
    void name parameters {                                                                    \
        if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) name##_avx2 arguments; \
        else name##_plain arguments;                                                          \
    }
#else
#define CHOOSE(name, body, parameters, arguments) void name parameters { body arguments; }
#endif

CHOOSE(blur_widen, widen, (const uint8_t *pixels, float *floats, size_t count), (pixels, floats, count))
CHOOSE(blur_across, across,
       (const float *pixels, size_t step, const float *weights, size_t taps, float *result, size_t count),
       (pixels, step, weights, taps, result, count))
CHOOSE(blur_down, down,
       (const float *const *rows, const float *weights, size_t taps, float *result, size_t count),
       (rows, weights, taps, result, count))
CHOOSE(blur_enlarge, enlarge,
       (const float *pixels, size_t step, const float *weights, float *result, size_t count),
       (pixels, step, weights, result, count))
CHOOSE(blur_round, round_all, (const float *floats, uint8_t *bytes, size_t count), (floats, bytes, count))
