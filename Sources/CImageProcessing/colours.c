#include "CImageProcessing.h"

#include <string.h>

void pixels_grey(uint8_t *pixels, size_t count) {
    for (size_t i = 0; i < count; i++) {
        uint32_t pixel;
        memcpy(&pixel, pixels + i * 4, 4);
        // The weights add up to 256, so that no luma exceeds its alpha.
        uint32_t luma = ((pixel & 0xFF) * 19 + (pixel >> 8 & 0xFF) * 183 + (pixel >> 16 & 0xFF) * 54 + 128) >> 8;
        pixel = (pixel & 0xFF000000u) | luma * 0x010101u;
        memcpy(pixels + i * 4, &pixel, 4);
    }
}

void pixels_tint(uint8_t *pixels, size_t count, uint32_t blue, uint32_t green, uint32_t red, uint32_t share) {
    uint32_t rest = 256 - share;
    for (size_t i = 0; i < count; i++) {
        uint32_t pixel;
        memcpy(&pixel, pixels + i * 4, 4);
        uint32_t alpha = pixel >> 24;
        uint32_t b = ((pixel & 0xFF) * rest + blue * alpha + 128) >> 8;
        uint32_t g = ((pixel >> 8 & 0xFF) * rest + green * alpha + 128) >> 8;
        uint32_t r = ((pixel >> 16 & 0xFF) * rest + red * alpha + 128) >> 8;
        pixel = (pixel & 0xFF000000u) | r << 16 | g << 8 | b;
        memcpy(pixels + i * 4, &pixel, 4);
    }
}

static uint32_t load(const uint8_t *bytes) {
    uint32_t value;
    memcpy(&value, bytes, sizeof value);
    return value;
}

static void store(uint8_t *bytes, uint32_t value) { memcpy(bytes, &value, sizeof value); }

// Four pixels at a time, because byte by byte takes three times as long. Machines are little-endian.
void pixels_drop_alpha(const uint8_t *pixels, uint8_t *result, size_t count) {
    for (; count >= 4; count -= 4, pixels += 16, result += 12) {
        uint32_t a = load(pixels), b = load(pixels + 4), c = load(pixels + 8), d = load(pixels + 12);
        store(result, (a & 0xFFFFFF) | b << 24);
        store(result + 4, (b >> 8 & 0xFFFF) | c << 16);
        store(result + 8, (c >> 16 & 0xFF) | d << 8);
    }
    for (; count > 0; count--, pixels += 4, result += 3) memcpy(result, pixels, 3);
}

// SSSE3, which x86 processors have since 2006, moves bytes within a register.
#if defined(__linux__) && defined(__x86_64__)
#define SHUFFLING __attribute__((target("ssse3")))
#define CAN_SHUFFLE __builtin_cpu_supports("ssse3")
#else
#define SHUFFLING
#define CAN_SHUFFLE 1
#endif
typedef uint8_t byte16 __attribute__((vector_size(16), aligned(1)));

// Returns how many pixels are done. Each step reads four bytes beyond its pixels.
SHUFFLING static size_t add_alpha_shuffling(const uint8_t *pixels, uint8_t *result, size_t count) {
    const byte16 opaque = (byte16){0} - 1;
    size_t done = 0;
    for (; count - done >= 6; done += 4)
        *(byte16 *)(result + done * 4) = __builtin_shufflevector(
            *(const byte16 *)(pixels + done * 3), opaque, 0, 1, 2, 16, 3, 4, 5, 16, 6, 7, 8, 16, 9, 10, 11, 16);
    return done;
}

void pixels_add_alpha(const uint8_t *pixels, uint8_t *result, size_t count) {
    const uint32_t opaque = 0xFF000000;
    size_t done = CAN_SHUFFLE ? add_alpha_shuffling(pixels, result, count) : 0;
    pixels += done * 3, result += done * 4, count -= done;
    for (; count >= 4; count -= 4, pixels += 12, result += 16) {
        uint32_t a = load(pixels), b = load(pixels + 4), c = load(pixels + 8);
        store(result, a | opaque);
        store(result + 4, (a >> 24 | b << 8) | opaque);
        store(result + 8, (b >> 16 | c << 16) | opaque);
        store(result + 12, c >> 8 | opaque);
    }
    for (; count > 0; count--, pixels += 3, result += 4) {
        memcpy(result, pixels, 3);
        result[3] = 255;
    }
}
