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
