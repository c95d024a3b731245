#ifndef CCODECS_JPEG_BITS_H
#define CCODECS_JPEG_BITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The bits of a baseline JPEG's scan and their Huffman codes (ITU-T T.81 annexes C and F).

/// Reads bits beginning with the highest of each byte. Beyond a marker or the end, it makes up zeros.
typedef struct {
    const uint8_t *next, *end;
    uint64_t window;
    /// The number of bits in the window.
    int count;
    /// The number of bits made up so far, consumed or still in the window.
    int64_t made_up;
} jpeg_bits;

/// The largest number of coefficients of a block that are kept, in zigzag order.
enum { JPEG_BITS_KEPT = 5 };

/// The number of bits looked up at once, for one symbol and for many.
enum { JPEG_BITS_ONE = 11, JPEG_BITS_MANY = 12 };

typedef struct {
    /// One symbol: the length of its code times 256, plus the symbol; 0 if the code is longer than JPEG_BITS_ONE.
    uint16_t one[1 << JPEG_BITS_ONE];
    /// As many coefficient symbols as fit (see `jpeg_bits.c`); 0 if none fits.
    uint16_t many[1 << JPEG_BITS_MANY];
    /// For each code length: the first code, the number of codes, and the index of their symbols.
    int32_t first[17], codes[17], offset[17];
    uint8_t symbols[256];
} jpeg_codes;

/// Builds tables from a DHT segment. Returns false if the codes are ambiguous or a symbol exceeds `most`.
bool jpeg_codes_make(jpeg_codes *codes, const uint8_t counts[17], const uint8_t symbols[256], int most);

/// Begins at a scan or a restart interval.
void jpeg_bits_begin(jpeg_bits *bits, const uint8_t *next, const uint8_t *end);

/// Reads a block and puts its first `count` coefficients into `kept`. The first of them is the difference of the mean from the
/// previous block's. Returns false if the block is corrupt.
bool jpeg_bits_block(jpeg_bits *bits, const jpeg_codes *means, const jpeg_codes *rest, int count,
                     int kept[JPEG_BITS_KEPT]);

/// Whether none of the bits consumed so far were made up.
bool jpeg_bits_are_sound(const jpeg_bits *bits);

/// Skips the marker with this code if nothing but padding precedes it. Returns false otherwise.
bool jpeg_bits_pass(jpeg_bits *bits, uint8_t marker);

#endif
