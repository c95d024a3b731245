// The inner loops of image processing, on every platform. They are in C to use instructions that only some processors have
// (AVX2), which Swift cannot select per function. Pixels are premultiplied BGRA of 8 bits.
#ifndef CIMAGEPROCESSING_H
#define CIMAGEPROCESSING_H

#include <stddef.h>
#include <stdint.h>

/// Replaces colours by their luma, with the weights of Rec. 709 for values as they are stored.
void pixels_grey(uint8_t *pixels, size_t count);

/// Mixes a colour into each pixel in proportion to the pixel's alpha, which stays. `share` is the share of the colour, and
/// the channels are those of the colour times its share, all from 0 to 256.
void pixels_tint(uint8_t *pixels, size_t count, uint32_t blue, uint32_t green, uint32_t red, uint32_t share);

/// Copies rows of `length` bytes, which begin `stride` bytes apart, into rows without gaps.
void pixels_copy_rows(const uint8_t *pixels, size_t stride, uint8_t *result, size_t length, size_t rows);

/// Copies pixels without their alpha: three bytes for each.
void pixels_drop_alpha(const uint8_t *pixels, uint8_t *result, size_t count);

/// Copies pixels of three bytes, and adds an alpha of 255.
void pixels_add_alpha(const uint8_t *pixels, uint8_t *result, size_t count);

enum { PIXELS_DONE, PIXELS_STOPPED, PIXELS_OUT_OF_MEMORY };

/// Convolves a picture with a Gaussian, in place. Pixels beyond an edge count as equal to the nearest pixel of the edge.
/// `sigma` is the standard deviation in pixels, from 0.1 to 1000. `stops` is called before each row; if it returns a value other
/// than 0, the blur stops, and the picture is partly blurred.
int pixels_blur(uint8_t *pixels, size_t width, size_t height, size_t stride, double sigma, int (*stops)(void));

#endif
