#ifndef CCODECS_SCALING_H
#define CCODECS_SCALING_H

#include <stddef.h>
#include <stdint.h>

// The inner loops of scaling. They are in C to use instructions that only some processors have (AVX2), which Swift cannot
// select per function.

/// The source of one pixel of a smaller row: `count` pixels of the larger row from number `first` on, with the weights from
/// `offset` on.
typedef struct {
    size_t first, count, offset;
} scaling_span;

/// Computes a row of `count` pixels. `floats` is a buffer for the `width` pixels of the larger row.
void scaling_across(const uint8_t *pixels, size_t width, float *floats, const scaling_span *spans,
                    const float *weights, size_t count, float *result);

/// Adds a row times a weight to a row of sums.
void scaling_add(float *sums, const float *row, float weight, size_t count);

/// Rounds sums to pixels whose colours don't exceed their alpha, and resets the sums to zero.
void scaling_finish(float *sums, uint8_t *pixels, size_t count);

#endif
