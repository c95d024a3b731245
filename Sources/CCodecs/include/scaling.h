#ifndef CCODECS_SCALING_H
#define CCODECS_SCALING_H

#include <stddef.h>
#include <stdint.h>

// The inner loops of scaling. They are in C for the sake of the instructions that only some processors have (AVX2), which
// Swift cannot ask for function by function; elsewhere the compiler makes of them what the processor has.

/// What one pixel of a smaller row is made of: `count` pixels of the larger, from number `first` on, with the weights
/// from `offset` on.
typedef struct {
    size_t first, count, offset;
} scaling_span;

/// Makes a row of `count` pixels. `floats` is room for the `width` pixels of the larger row.
void scaling_across(const uint8_t *pixels, size_t width, float *floats, const scaling_span *spans,
                    const float *weights, size_t count, float *result);

/// Adds a row times a weight to a row of sums.
void scaling_add(float *sums, const float *row, float weight, size_t count);

/// Rounds sums to pixels, no colour above its alpha, and sets the sums to zero.
void scaling_finish(float *sums, uint8_t *pixels, size_t count);

#endif
