#ifdef __linux__

#include "jpeg_bits.h"

#include <string.h>

enum { ONE = JPEG_BITS_ONE, MANY = JPEG_BITS_MANY, MOST_DC_BITS = 11, MOST_AC_BITS = 10, BLOCK = 64 };

/// Symbols without a value: the end of the block, or sixteen zeros (T.81 §F.1.2.2.1).
enum { END = 0x00, ZEROS = 0xF0 };

static const uint64_t ONES = 0x0101010101010101;

#define INLINE inline __attribute__((always_inline))
#define LIKELY(condition) __builtin_expect(!!(condition), 1)

// An entry of `many` tells how many bits its symbols and their values take, how many coefficients they cover, and whether the
// last symbol ends the block. The last value may extend beyond the window, because values are skipped.
enum { TAKES_MASK = 31, COVERS_SHIFT = 5, COVERS_MASK = 63, ENDS = 1 << 11 };

// Codes

static uint16_t as_many_as_fit(const jpeg_codes *codes, unsigned window) {
    unsigned takes = 0, covers = 0, ends = 0;
    while (takes < MANY && !ends) {
        // Bits behind the window are unknown, and count as zeros. Codes that reach there are not used.
        unsigned rest = window << takes & ((1 << MANY) - 1), entry = codes->one[rest >> (MANY - ONE)];
        unsigned length = entry >> 8, run = entry >> 4 & 15, size = entry & 15;
        if (!entry || length > MANY - takes || size > MOST_AC_BITS || (size == 0 && run % 15 != 0)) break;
        ends = size == 0 && run == 0;
        if (!ends && covers + run + 1 > COVERS_MASK) break;
        takes += length + size;
        if (!ends) covers += run + 1;
    }
    return (uint16_t)(takes | covers << COVERS_SHIFT | (ends ? ENDS : 0));
}

bool jpeg_codes_make(jpeg_codes *codes, const uint8_t counts[17], const uint8_t symbols[256], int most) {
    int32_t code = 0, offset = 0;
    memset(codes, 0, sizeof *codes);
    memcpy(codes->symbols, symbols, sizeof codes->symbols);
    for (int length = 1; length <= 16; length++, code <<= 1) {
        codes->first[length] = code;
        codes->codes[length] = counts[length];
        codes->offset[length] = offset;
        // No code may be all ones (T.81 §C.2).
        if ((counts[length] && code + counts[length] >= 1 << length) || offset + counts[length] > 256) return false;
        for (int i = 0; i < counts[length]; i++, code++, offset++) {
            if (symbols[offset] > most) return false;
            for (int rest = 0; length <= ONE && rest < 1 << (ONE - length); rest++)
                codes->one[(code << (ONE - length)) + rest] = (uint16_t)(length << 8 | symbols[offset]);
        }
    }
    for (unsigned window = 0; window < 1 << MANY; window++) codes->many[window] = as_many_as_fit(codes, window);
    return true;
}

// Bits

void jpeg_bits_begin(jpeg_bits *bits, const uint8_t *next, const uint8_t *end) {
    *bits = (jpeg_bits){.next = next, .end = end};
}

static INLINE uint64_t big64(const uint8_t *bytes) {
    uint64_t word = 0;
    for (int i = 0; i < 8; i++) word = word << 8 | bytes[i];
    return word;
}

// A copy of the bits stays in registers while a block is read: the following functions are inlined, or take it by value.

static __attribute__((noinline)) jpeg_bits filled_bytewise(jpeg_bits bits) {
    for (; bits.count <= 56; bits.count += 8) {
        uint64_t byte = 0;
        if (bits.next < bits.end && *bits.next != 0xFF) {
            byte = *bits.next++;
        } else if (bits.end - bits.next >= 2 && bits.next[1] == 0) {
            byte = 0xFF;
            bits.next += 2;
        } else {
            bits.made_up += 8;
        }
        bits.window |= byte << (56 - bits.count);
    }
    return bits;
}

/// Ensures at least 32 bits.
static INLINE void fill(jpeg_bits *bits) {
    if (bits->count >= 32) return;
    uint64_t word = bits->end - bits->next < 8 ? UINT64_MAX : big64(bits->next);
    // Checks whether a byte is 0xFF, which could begin a marker.
    if (LIKELY(!((~word - ONES) & word & (ONES << 7)))) {
        int bytes = (63 - bits->count) >> 3;
        bits->window |= word >> bits->count;
        bits->next += bytes;
        bits->count += bytes * 8;
    } else {
        *bits = filled_bytewise(*bits);
    }
}

static INLINE unsigned peek(const jpeg_bits *bits, int count) { return (unsigned)(bits->window >> (64 - count)); }

static INLINE void drop(jpeg_bits *bits, int count) {
    bits->window <<= count;
    bits->count -= count;
}

typedef struct {
    int length, symbol;
} coded;

static __attribute__((noinline)) coded long_code(uint64_t window, const jpeg_codes *codes) {
    for (int length = ONE + 1; length <= 16; length++) {
        int32_t index = (int32_t)(window >> (64 - length)) - codes->first[length];
        if (index >= 0 && index < codes->codes[length])
            return (coded){length, codes->symbols[codes->offset[length] + index]};
    }
    return (coded){0, -1};
}

/// Reads a symbol; -1 if there is no such code. The bits of its value are available too.
static INLINE int symbol(jpeg_bits *bits, const jpeg_codes *codes) {
    fill(bits);
    unsigned entry = codes->one[peek(bits, ONE)];
    coded found = {(int)(entry >> 8), (int)(entry & 0xFF)};
    if (!LIKELY(entry)) found = long_code(bits->window, codes);
    drop(bits, found.length);
    return found.symbol;
}

/// EXTEND of T.81 §F.2.2.1, without branches: a value whose first bit is 0 is negative.
static INLINE int value(jpeg_bits *bits, int size) {
    int negative = (int)~(bits->window >> 63) & 1;
    int stored = (int)(bits->window >> 1 >> (63 - size));
    drop(bits, size);
    return stored + (-negative & (1 - (1 << size)));
}

/// Whether the symbol has a value of a valid size, or is a run of zeros.
static INLINE bool is_sound(int symbol) {
    return symbol >= 0 && (symbol & 15) <= MOST_AC_BITS && ((symbol & 15) != 0 || symbol == ZEROS);
}

/// Skips the coefficients from number `at` on.
static INLINE bool skip(jpeg_bits *bits, const jpeg_codes *codes, int at) {
    while (at < BLOCK) {
        fill(bits);
        unsigned entry = codes->many[peek(bits, MANY)];
        int covers = (int)(entry >> COVERS_SHIFT & COVERS_MASK);
        if (LIKELY(entry && at + covers < BLOCK)) {
            drop(bits, (int)(entry & TAKES_MASK));
            if (entry & ENDS) return true;
            at += covers;
        } else {
            // The block may end within the window. The remaining bits of the window then belong to the next block.
            int next = symbol(bits, codes);
            if (next == END) return true;
            if (!is_sound(next)) return false;
            drop(bits, next & 15);
            at += (next >> 4) + 1;
        }
    }
    return at == BLOCK;
}

static INLINE bool block(jpeg_bits *bits, const jpeg_codes *means, const jpeg_codes *rest, int count,
                         int *kept) {
    int size = symbol(bits, means), at = 1;
    if (size < 0 || size > MOST_DC_BITS) return false;
    for (int i = 1; i < count; i++) kept[i] = 0;
    kept[0] = value(bits, size);
    while (at < count) {
        int next = symbol(bits, rest);
        if (next == END) return true;
        if (!is_sound(next)) return false;
        at += next >> 4;
        int stored = value(bits, next & 15);
        if (at < count) kept[at] = stored;
        at++;
    }
    return skip(bits, rest, at);
}

bool jpeg_bits_block(jpeg_bits *bits, const jpeg_codes *means, const jpeg_codes *rest, int count,
                     int kept[JPEG_BITS_KEPT]) {
    jpeg_bits local = *bits;
    bool is_sound_block = block(&local, means, rest, count, kept);
    *bits = local;
    return is_sound_block;
}

bool jpeg_bits_are_sound(const jpeg_bits *bits) { return bits->count >= bits->made_up; }

bool jpeg_bits_pass(jpeg_bits *bits, uint8_t marker) {
    // The rest of the last byte is padding. If a whole byte is left, the data are corrupt.
    int64_t left = bits->count - bits->made_up;
    if (left < 0 || left >= 8 || bits->end - bits->next < 2) return false;
    if (bits->next[0] != 0xFF || bits->next[1] != marker) return false;
    jpeg_bits_begin(bits, bits->next + 2, bits->end);
    return true;
}

#endif
