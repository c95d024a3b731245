#ifndef CCODECS_PLANES_H
#define CCODECS_PLANES_H

#include <stddef.h>
#include <stdint.h>

#include "scaling.h"

// Scales planes of luma and chroma before they are converted to colours.

/// Computes a row of `width` weighted sums over `rows` consecutive rows of samples.
void planes_down(const uint8_t *samples, size_t width, const float *weights, size_t rows, float *sums);

/// Computes a row of `count` weighted sums across.
void planes_across(const float *row, const scaling_span *spans, const float *weights, size_t count, float *sums);

/// Converts `count` samples to opaque BGRA with the colours of VP8 (RFC 6386 §9.2: ITU-R BT.601, where black is 16 and
/// white 235).
void planes_mix(const float *luma, const float *blue, const float *red, uint8_t *pixels, size_t count);

#endif
