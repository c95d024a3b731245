#include "CImageProcessing.h"
#include "blur_loops.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// A small Gaussian is applied as it is, across and then down. For a larger one, rows and columns are first reduced by a whole
// number, the step: a slightly smaller Gaussian is evaluated at each `step`th pixel only. Then a cubic B-spline interpolates
// the pixels between them. This interpolation contributes the rest of the blur. With a step of half the standard deviation,
// the result differs from that of the whole Gaussian by about a tenth of a level at most.

typedef struct {
    size_t width, height, step;
    /// How many positions before the first pixel the reduced picture begins.
    size_t lead;
    /// The number of an output's inputs on either side of it, and in all.
    size_t reach, taps;
    /// The size of the reduced picture. Rows have room for `room` pixels.
    size_t columns, rows, room;
    /// The variance of the Gaussian, in square pixels, without the part that the B-spline contributes.
    double variance;
    /// A row with its edges continued.
    float *padded;
    /// The last `taps` input rows, reduced across. Row number n is at n modulo `taps`.
    float *ring;
    const float **sources;
    /// A row of the reduced picture, and the last four, enlarged across.
    float *reduced, *enlarged;
    /// The weight of each tap, the same in the form for `blur_across`, and those of the B-spline.
    float *weights, *pairs, *spline;
} blur;

static void plan(blur *b, double sigma) {
    b->step = sigma < 4 ? 1 : (size_t)(sigma / 2);
    b->lead = b->step == 1 ? 0 : b->step;
    // The variance of the B-spline is a third of the square of the step.
    double step = (double)b->step;
    b->variance = b->step == 1 ? sigma * sigma : sigma * sigma - step * step / 3;
    b->reach = (size_t)ceil(sqrt(b->variance) * 3.5);
    b->taps = 2 * b->reach + 1;
    size_t beyond = b->step == 1 ? 0 : 3;
    b->columns = (b->width - 1) / b->step + 1 + beyond;
    b->rows = (b->height - 1) / b->step + 1 + beyond;
    size_t together = BLUR_FLOATS / 4;
    b->room = (b->columns + together - 1) / together * together;
}

static float *floats(size_t count) { return malloc(count * sizeof(float)); }

static int allocate(blur *b) {
    b->padded = floats((b->room * b->step + b->taps + 1) * 4);
    b->ring = floats(b->taps * b->room * 4);
    b->sources = malloc(b->taps * sizeof *b->sources);
    b->reduced = floats(b->room * 4);
    b->enlarged = b->step == 1 ? NULL : floats(4 * b->width * 4);
    b->weights = floats(b->taps);
    b->pairs = floats((b->taps + 1) * 4);
    b->spline = floats(b->step * 4);
    return b->padded && b->ring && b->sources && b->reduced && (b->step == 1 || b->enlarged) && b->weights && b->pairs
        && b->spline;
}

static void release(blur *b) {
    free(b->padded), free(b->ring), free(b->sources), free(b->reduced), free(b->enlarged), free(b->weights);
    free(b->pairs), free(b->spline);
}

static void weigh(blur *b) {
    double step = (double)b->step, sum = 0;
    for (size_t pass = 0; pass < 2; pass++)
        for (size_t tap = 0; tap < b->taps; tap++) {
            double distance = (double)tap - (double)b->reach, weight = exp(-distance * distance / (2 * b->variance));
            if (pass == 0) sum += weight;
            else b->weights[tap] = (float)(weight / sum);
        }
    for (size_t tap = 0; tap <= b->taps; tap++)
        for (size_t i = 0; i < 4; i++) b->pairs[tap * 4 + i] = tap < b->taps ? b->weights[tap] : 0;
    for (size_t place = 0; place < b->step; place++) {
        double t = (double)place / step, *w = (double[]){
            (1 - t) * (1 - t) * (1 - t) / 6, (3 * t * t * t - 6 * t * t + 4) / 6,
            (-3 * t * t * t + 3 * t * t + 3 * t + 1) / 6, t * t * t / 6};
        for (size_t i = 0; i < 4; i++) b->spline[place * 4 + i] = (float)w[i];
    }
}

static void copy_pixel(float *to, const float *from) {
    for (size_t i = 0; i < 4; i++) to[i] = from[i];
}

/// Reduces a row of pixels across.
static void reduce(const blur *b, const uint8_t *pixels, float *result) {
    size_t before = b->lead + b->reach, all = b->room * b->step + b->taps + 1;
    float *first = b->padded + before * 4, *last = first + (b->width - 1) * 4;
    blur_widen(pixels, first, b->width);
    for (float *pixel = b->padded; pixel < first; pixel += 4) copy_pixel(pixel, first);
    for (float *pixel = last + 4; pixel < b->padded + all * 4; pixel += 4) copy_pixel(pixel, last);
    blur_across(b->padded, b->step, b->pairs, b->taps + 1, result, b->room);
}

/// Computes a row of the reduced picture from the rows in the ring.
static void collect(blur *b, size_t row) {
    for (size_t tap = 0; tap < b->taps; tap++) {
        size_t place = row * b->step + tap, before = b->lead + b->reach;
        size_t input = place < before ? 0 : place - before;
        if (input >= b->height) input = b->height - 1;
        b->sources[tap] = b->ring + input % b->taps * b->room * 4;
    }
    blur_down(b->sources, b->weights, b->taps, b->reduced, b->room * 4);
}

/// Writes the rows between the second and the third of the last four rows of the reduced picture.
static void interpolate(blur *b, size_t row, uint8_t *pixels, size_t stride) {
    blur_enlarge(b->reduced, b->step, b->spline, b->enlarged + row % 4 * b->width * 4, b->width);
    if (row < 3) return;
    const float *sources[4];
    for (size_t i = 0; i < 4; i++) sources[i] = b->enlarged + (row - 3 + i) % 4 * b->width * 4;
    size_t y = (row - 3) * b->step, count = b->width * 4, whole = count / BLUR_FLOATS * BLUR_FLOATS;
    for (size_t place = 0; place < b->step && y < b->height; place++, y++) {
        const float *weights = b->spline + place * 4;
        blur_down(sources, weights, 4, b->padded, whole);
        for (size_t i = whole; i < count; i++) {
            b->padded[i] = 0;
            for (size_t source = 0; source < 4; source++) b->padded[i] += sources[source][i] * weights[source];
        }
        blur_round(b->padded, pixels + y * stride, count);
    }
}

// A row is overwritten only after it has been reduced into the ring, so the blur works in place.
static int convolve(blur *b, uint8_t *pixels, size_t stride, int (*stops)(void)) {
    size_t input = 0;
    for (size_t row = 0; row < b->rows; row++) {
        size_t place = row * b->step + b->reach, end = place < b->lead ? 0 : place - b->lead + 1;
        for (; input < end && input < b->height; input++) {
            if (stops()) return PIXELS_STOPPED;
            reduce(b, pixels + input * stride, b->ring + input % b->taps * b->room * 4);
        }
        if (stops()) return PIXELS_STOPPED;
        collect(b, row);
        if (b->step == 1) blur_round(b->reduced, pixels + row * stride, b->width * 4);
        else interpolate(b, row, pixels, stride);
    }
    return PIXELS_DONE;
}

// A blur takes up to 500 bytes for each column. So a picture with very many columns is transposed before the blur.
enum { MANY_COLUMNS = 1 << 15 };

static void transpose(const uint8_t *pixels, size_t width, size_t height, size_t stride, uint8_t *result, size_t below) {
    for (size_t y = 0; y < height; y++)
        for (size_t x = 0; x < width; x++) memcpy(result + x * below + y * 4, pixels + y * stride + x * 4, 4);
}

static int blur_turned(
    uint8_t *pixels, size_t width, size_t height, size_t stride, double sigma, int (*stops)(void)) {
    uint8_t *turned = malloc(width * height * 4);
    if (!turned) return PIXELS_OUT_OF_MEMORY;
    transpose(pixels, width, height, stride, turned, height * 4);
    int result = pixels_blur(turned, height, width, height * 4, sigma, stops);
    if (result == PIXELS_DONE) transpose(turned, height, width, height * 4, pixels, stride);
    free(turned);
    return result;
}

int pixels_blur(uint8_t *pixels, size_t width, size_t height, size_t stride, double sigma, int (*stops)(void)) {
    blur b = {.width = width, .height = height};
    if (width == 0 || height == 0) return PIXELS_DONE;
    if (width > MANY_COLUMNS && width > height) return blur_turned(pixels, width, height, stride, sigma, stops);
    plan(&b, sigma);
    int result = PIXELS_OUT_OF_MEMORY;
    if (allocate(&b)) {
        weigh(&b);
        result = convolve(&b, pixels, stride, stops);
    }
    release(&b);
    return result;
}
