#ifdef __linux__

#include "jpeg_quarter.h"

#include <stdlib.h>
#include <string.h>
#include "jpeg_bits.h"

enum { MOST_COMPONENTS = 3, MOST_ROWS = 4, LEAST_MEAN = -2048, MOST_MEAN = 2047, MOST_SIZE = 15, MOST_SYMBOL = 255 };

/// How many coefficients are read: up to the slopes of a block across and down, or up to the slope in both directions. The last
/// one gains 0.1 dB if the block becomes four samples, and 1 dB if it becomes sixteen.
enum { TWO_SLOPES = 3, ALL_SLOPES = 5 };

typedef float float4 __attribute__((vector_size(16)));
typedef int32_t int4 __attribute__((vector_size(16)));
typedef uint8_t byte4 __attribute__((vector_size(4)));

typedef struct {
    const jpeg_codes *means, *rest;
    /// The number of its blocks in each unit of the scan (MCU, T.81 §A.2).
    int across, down;
    /// The number of samples that a block becomes.
    int wide, high;
    /// The number of coefficients that this requires.
    int kept;
    /// The factors of the mean and the slopes: across, down, both.
    float mean, slopes[3];
    /// The mean of the previous block.
    int predicted;
    /// The rows of the latest units.
    uint8_t *rows;
} component;

struct jpeg_quarter {
    jpeg_bits bits;
    component components[MOST_COMPONENTS];
    int count;
    uint32_t width, height, units_across;
    /// The samples of a unit, across and down.
    int unit_width, unit_height;
    size_t row_bytes;
    /// The units between restart markers (0 without markers), the remaining units, and the number of the next marker.
    unsigned interval, left, marker;
    /// The rows returned so far, and the decoded rows not returned yet.
    uint32_t given;
    int ready, ready_from;
    jpeg_codes *means[NUM_HUFF_TBLS], *rest[NUM_HUFF_TBLS];
};

// Opening

static const jpeg_codes *codes(jpeg_codes **known, JHUFF_TBL **tables, int number, int most) {
    if (number < 0 || number >= NUM_HUFF_TBLS || !tables[number]) return NULL;
    if (!known[number]) {
        known[number] = malloc(sizeof(jpeg_codes));
        const JHUFF_TBL *table = tables[number];
        if (known[number] && !jpeg_codes_make(known[number], table->bits, table->huffval, most)) {
            free(known[number]);
            known[number] = NULL;
        }
    }
    return known[number];
}

static bool is_of_the_kind(j_decompress_ptr info) {
    J_COLOR_SPACE colours = info->jpeg_color_space;
    return !info->progressive_mode && !info->arith_code && info->data_precision == 8 &&
           info->comps_in_scan == info->num_components && info->Ss == 0 && info->Se == DCTSIZE2 - 1 && info->Ah == 0 &&
           info->Al == 0 && info->num_components == (colours == JCS_GRAYSCALE ? 1 : 3) &&
           (colours == JCS_GRAYSCALE || colours == JCS_YCbCr);
}

static bool open_component(jpeg_quarter *quarter, j_decompress_ptr info, int index) {
    component *made = &quarter->components[index];
    jpeg_component_info *stored = info->cur_comp_info[index];
    bool alone = quarter->count == 1;
    int most_across = alone ? 1 : info->max_h_samp_factor, most_down = alone ? 1 : info->max_v_samp_factor;
    // The components of a scan are in the order of the frame (T.81 §B.2.3).
    if (stored->component_index != index) return false;
    made->across = alone ? 1 : stored->h_samp_factor;
    made->down = alone ? 1 : stored->v_samp_factor;
    if (most_across > 2 || most_down > 2 || made->across < 1 || made->down < 1) return false;
    made->wide = 2 * most_across / made->across;
    made->high = 2 * most_down / made->down;
    made->kept = made->wide * made->high > 4 ? ALL_SLOPES : TWO_SLOPES;
    made->means = codes(quarter->means, info->dc_huff_tbl_ptrs, stored->dc_tbl_no, MOST_SIZE);
    made->rest = codes(quarter->rest, info->ac_huff_tbl_ptrs, stored->ac_tbl_no, MOST_SYMBOL);
    if (stored->quant_tbl_no < 0 || stored->quant_tbl_no >= NUM_QUANT_TBLS) return false;
    JQUANT_TBL *steps = info->quant_tbl_ptrs[stored->quant_tbl_no];
    if (!made->means || !made->rest || !steps) return false;
    // Factors of T.81 §A.3.3: an eighth for the mean, √2/8 and a quarter for the cosines. These tables are in natural
    // order.
    made->mean = steps->quantval[0] / 8.0f;
    made->slopes[0] = steps->quantval[1] * 0.1767767f;
    made->slopes[1] = steps->quantval[DCTSIZE] * 0.1767767f;
    made->slopes[2] = steps->quantval[DCTSIZE + 1] / 4.0f;
    return true;
}

static bool open(jpeg_quarter *quarter, j_decompress_ptr info) {
    quarter->count = info->num_components;
    int blocks = 0;
    for (int i = 0; i < quarter->count; i++) {
        if (!open_component(quarter, info, i)) return false;
        blocks += quarter->components[i].across * quarter->components[i].down;
    }
    // The limit of T.81 §B.2.3.
    if (quarter->count > 1 && blocks > D_MAX_BLOCKS_IN_MCU) return false;
    bool alone = quarter->count == 1;
    quarter->unit_width = 2 * (alone ? 1 : info->max_h_samp_factor);
    quarter->unit_height = 2 * (alone ? 1 : info->max_v_samp_factor);
    quarter->width = (info->image_width + 3) / 4;
    quarter->height = (info->image_height + 3) / 4;
    quarter->units_across = (quarter->width + (uint32_t)quarter->unit_width - 1) / (uint32_t)quarter->unit_width;
    quarter->row_bytes = (size_t)quarter->units_across * (size_t)quarter->unit_width;
    quarter->interval = quarter->left = info->restart_interval;
    for (int i = 0; i < quarter->count; i++) {
        quarter->components[i].rows = malloc(quarter->row_bytes * MOST_ROWS);
        if (!quarter->components[i].rows) return false;
    }
    return true;
}

jpeg_quarter *jpeg_quarter_open(j_decompress_ptr info, const uint8_t *bytes, const uint8_t *end) {
    if (!is_of_the_kind(info)) return NULL;
    jpeg_quarter *quarter = calloc(1, sizeof *quarter);
    if (!quarter) return NULL;
    jpeg_bits_begin(&quarter->bits, bytes, end);
    if (open(quarter, info)) return quarter;
    jpeg_quarter_close(quarter);
    return NULL;
}

void jpeg_quarter_close(jpeg_quarter *quarter) {
    if (!quarter) return;
    for (int i = 0; i < NUM_HUFF_TBLS; i++) {
        free(quarter->means[i]);
        free(quarter->rest[i]);
    }
    for (int i = 0; i < MOST_COMPONENTS; i++) free(quarter->components[i].rows);
    free(quarter);
}

// Samples

static inline byte4 bytes_of(float4 samples) {
    // Adding this number leaves the value, rounded to the nearest integer, in the lowest bits.
    const float rounding = 12582912;
    samples = __builtin_elementwise_min(__builtin_elementwise_max(samples, (float4){0}), (float4){255, 255, 255, 255});
    return __builtin_convertvector((int4)(samples + rounding) & 0xFF, byte4);
}

/// The means of halves or quarters of a block, across and down (T.81 §A.3.3). Without the finer coefficients they are
/// smoother than those of the whole block, which suits a following filter.
static inline void put_block(const component *component, const int *kept, uint8_t *target, size_t stride) {
    // The means of the first cosine over a half, and over quarters.
    const float half = 0.6407289f, outer = 0.9061274f, inner = 0.3753303f;
    const float quarters[4] = {outer, inner, -inner, -outer}, halves[2] = {half, -half};
    const float4 wide = {outer, inner, -inner, -outer}, pairs = {half, -half, half, -half};
    float mean = 128 + (float)component->predicted * component->mean, across = (float)kept[1] * component->slopes[0];
    float down = (float)kept[2] * component->slopes[1], both = (float)kept[4] * component->slopes[2];
    const float *rows = component->high == 4 ? quarters : halves;
    if (component->wide == 4) {
        for (int y = 0; y < component->high; y++, target += stride) {
            byte4 samples = bytes_of((across + both * rows[y]) * wide + (mean + down * rows[y]));
            memcpy(target, &samples, 4);
        }
    } else {
        for (int y = 0; y < component->high; y += 2, target += 2 * stride) {
            float4 steps = {rows[y], rows[y], rows[y + 1], rows[y + 1]};
            byte4 samples = bytes_of((across + both * steps) * pairs + (mean + down * steps));
            memcpy(target, &samples, 2);
            memcpy(target + stride, (uint8_t *)&samples + 2, 2);
        }
    }
}

// Reading

static bool read_unit(jpeg_quarter *quarter, uint32_t unit) {
    jpeg_bits bits = quarter->bits;
    for (component *part = quarter->components; part < quarter->components + quarter->count; part++) {
        uint8_t *row = part->rows + (size_t)unit * (size_t)quarter->unit_width;
        for (int y = 0; y < part->down; y++, row += (size_t)part->high * quarter->row_bytes) {
            for (int x = 0; x < part->across; x++) {
                int kept[JPEG_BITS_KEPT] = {0};
                if (!jpeg_bits_block(&bits, part->means, part->rest, part->kept, kept)) return false;
                part->predicted += kept[0];
                if (part->predicted < LEAST_MEAN || part->predicted > MOST_MEAN) return false;
                put_block(part, kept, row + x * part->wide, quarter->row_bytes);
            }
        }
    }
    quarter->bits = bits;
    return true;
}

/// Passes a restart marker (T.81 §E.2.4).
static bool restart(jpeg_quarter *quarter) {
    if (!jpeg_bits_pass(&quarter->bits, (uint8_t)(0xD0 + (quarter->marker++ & 7)))) return false;
    for (int i = 0; i < quarter->count; i++) quarter->components[i].predicted = 0;
    quarter->left = quarter->interval;
    return true;
}

static bool read_units(jpeg_quarter *quarter) {
    for (uint32_t unit = 0; unit < quarter->units_across; unit++) {
        if (quarter->interval && quarter->left-- == 0) {
            if (!restart(quarter)) return false;
            quarter->left--;
        }
        if (!read_unit(quarter, unit)) return false;
    }
    uint32_t rest = quarter->height - quarter->given;
    quarter->ready_from = 0;
    quarter->ready = rest < (uint32_t)quarter->unit_height ? (int)rest : quarter->unit_height;
    if (rest > (uint32_t)quarter->unit_height) return jpeg_bits_are_sound(&quarter->bits);
    return jpeg_bits_pass(&quarter->bits, JPEG_EOI);
}

// Colours

/// Converts YCbCr to pixels (ITU-T T.871 §7).
static inline __attribute__((always_inline)) void mix(const uint8_t *y, const uint8_t *blue, const uint8_t *red,
                                                      uint32_t *pixels, size_t count) {
    for (size_t i = 0; i < count; i++) {
        float light = y[i] + 0.5f, b = (float)blue[i] - 128, r = (float)red[i] - 128;
        float mixed[3] = {light + 1.772f * b, light - 0.344136f * b - 0.714136f * r, light + 1.402f * r};
        uint32_t pixel = 0xFF000000;
        for (int c = 0; c < 3; c++) {
            float bounded = mixed[c] < 0 ? 0 : mixed[c];
            pixel |= (uint32_t)(int32_t)(bounded > 255 ? 255 : bounded) << (8 * c);
        }
        pixels[i] = pixel;
    }
}

static void spread(const uint8_t *grey, uint32_t *pixels, size_t count) {
    for (size_t i = 0; i < count; i++) pixels[i] = 0xFF000000 | grey[i] * 0x010101u;
}

#ifdef __x86_64__
// Compiled twice. The version with AVX2 is used where the processor has it.
static __attribute__((target("avx2,fma"))) void mix_avx2(const uint8_t *y, const uint8_t *blue, const uint8_t *red,
                                                         uint32_t *pixels, size_t count) {
    mix(y, blue, red, pixels, count);
}
static bool has_avx2(void) { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }
#else
#define mix_avx2 mix
static bool has_avx2(void) { return false; }
#endif

static void put_row(const jpeg_quarter *quarter, size_t row, uint8_t *target) {
    size_t offset = row * quarter->row_bytes;
    const component *parts = quarter->components;
    uint32_t *pixels = (uint32_t *)(void *)target;
    const uint8_t *y = parts[0].rows + offset;
    if (quarter->count == 1) return spread(y, pixels, quarter->width);
    const uint8_t *blue = parts[1].rows + offset, *red = parts[2].rows + offset;
    if (has_avx2()) return mix_avx2(y, blue, red, pixels, quarter->width);
    mix(y, blue, red, pixels, quarter->width);
}

int jpeg_quarter_rows(jpeg_quarter *quarter, uint8_t *rows, size_t stride, int capacity) {
    int done = 0;
    while (done < capacity && quarter->given < quarter->height) {
        if (quarter->ready == 0 && !read_units(quarter)) return 0;
        put_row(quarter, (size_t)quarter->ready_from, rows + (size_t)done * stride);
        quarter->ready--;
        quarter->ready_from++;
        quarter->given++;
        done++;
    }
    return done;
}

#endif
