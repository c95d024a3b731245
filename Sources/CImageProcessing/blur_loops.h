// The inner loops of the Gaussian blur. Four floats per pixel.
#ifndef BLUR_LOOPS_H
#define BLUR_LOOPS_H

#include <stddef.h>
#include <stdint.h>

/// How many outputs or floats a loop computes together. The buffers have room for a multiple of them.
enum { BLUR_OUTPUTS = 4, BLUR_FLOATS = 32 };

/// Converts pixels to floats.
void blur_widen(const uint8_t *pixels, float *floats, size_t count);

/// Computes `count` pixels (a multiple of BLUR_OUTPUTS). Each is the weighted sum of `taps` pixels (an even number), and its
/// first input is `step` pixels after that of the previous sum. `weights` has the weight of each tap four times.
void blur_across(const float *pixels, size_t step, const float *weights, size_t taps, float *result, size_t count);

/// Adds up `taps` rows times their weights: `count` floats, a multiple of BLUR_FLOATS.
void blur_down(const float *const *rows, const float *weights, size_t taps, float *result, size_t count);

/// Interpolates `step` pixels between each two of a row: weighted sums of four neighbours, with four weights for each of
/// the `step` positions.
void blur_enlarge(const float *pixels, size_t step, const float *weights, float *result, size_t count);

/// Rounds floats to bytes, `count` of each.
void blur_round(const float *floats, uint8_t *bytes, size_t count);

#endif
