#ifndef CCODECS_COLORS_H
#define CCODECS_COLORS_H

#include <stddef.h>
#include <stdint.h>

// The inner loop for converting RGB by three curves and a matrix (ICC.1 annex F.3).

/// The number of steps of linear light. Where it is darkest, five of them are one step of an sRGB byte.
enum { COLORS_STEPS = 16384 };

/// Converts `count` pixels of straight BGRA in place; alpha stays.
///
/// `parts` has four floats (blue, green, red, unused) for each of the 256 values of blue, then of green, then of red: what
/// that value adds to the linear result, in steps. `encoded` has the byte for each step.
void colors_convert(uint8_t *pixels, size_t count, const float *parts, const uint8_t *encoded);

#endif
