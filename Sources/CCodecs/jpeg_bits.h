#ifndef CCODECS_JPEG_BITS_H
#define CCODECS_JPEG_BITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The bits of a baseline JPEG's scan and their Huffman codes (ITU-T T.81 annexes C and F).

/// Bits that are read from the highest on. Beyond a marker, or the end, zeros are made up.
typedef struct {
    const uint8_t *next, *end;
    uint64_t window;
    /// How many bits the window has.
    int count;
    /// How many of all so far were made up.
    int64_t made_up;
} jpeg_bits;

/// How many coefficients of a block are kept at most, in the order of the file, which is the zigzag.
enum { JPEG_BITS_KEPT = 5 };

/// How many bits are looked at together, for one symbol and for many.
enum { JPEG_BITS_ONE = 11, JPEG_BITS_MANY = 12 };

typedef struct {
    /// One symbol: its length times 256, and the symbol; 0 if its code is longer.
    uint16_t one[1 << JPEG_BITS_ONE];
    /// As many symbols of coefficients as fit: see `jpeg_bits.c`; 0 if none does.
    uint16_t many[1 << JPEG_BITS_MANY];
    /// For each length of codes: the first, how many, and where their symbols are.
    int32_t first[17], codes[17], offset[17];
    uint8_t symbols[256];
} jpeg_codes;

/// Makes tables of what a DHT segment says; false if its codes cannot be told apart, or if a symbol is beyond `most`.
bool jpeg_codes_make(jpeg_codes *codes, const uint8_t counts[17], const uint8_t symbols[256], int most);

/// Begins where a scan, or a restart interval, begins.
void jpeg_bits_begin(jpeg_bits *bits, const uint8_t *next, const uint8_t *end);

/// Reads a block, of which `count` coefficients are wanted; its mean is stored as the difference to the one before.
/// False if it is damaged.
bool jpeg_bits_block(jpeg_bits *bits, const jpeg_codes *means, const jpeg_codes *rest, int count,
                     int kept[JPEG_BITS_KEPT]);

/// Whether nothing was made up so far.
bool jpeg_bits_are_sound(const jpeg_bits *bits);

/// Goes behind the marker with this code, if nothing but that is left; false if something else is.
bool jpeg_bits_pass(jpeg_bits *bits, uint8_t marker);

#endif
