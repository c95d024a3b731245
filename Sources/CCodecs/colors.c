#ifdef __linux__

#include "colors.h"

typedef float float4 __attribute__((vector_size(16), aligned(4)));
typedef int32_t int4 __attribute__((vector_size(16)));

void colors_convert(uint8_t *pixels, size_t count, const float *parts, const uint8_t *encoded) {
    const float most = COLORS_STEPS - 1;
    for (uint8_t *end = pixels + count * 4; pixels < end; pixels += 4) {
        float4 sum = *(const float4 *)(parts + pixels[0] * 4) + *(const float4 *)(parts + 1024 + pixels[1] * 4)
            + *(const float4 *)(parts + 2048 + pixels[2] * 4) + 0.5f;
        sum = __builtin_elementwise_min(__builtin_elementwise_max(sum, (float4){0}), (float4){most, most, most, most});
        int4 steps = __builtin_convertvector(sum, int4);
        for (int i = 0; i < 3; i++) pixels[i] = encoded[steps[i]];
    }
}

#endif
