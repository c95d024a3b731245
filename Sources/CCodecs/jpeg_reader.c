#ifdef __linux__

#include "jpeg.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <jpeglib.h>
#include <jerror.h>
#include "jpeg_low_frequency.h"
#include "jpeg_quarter.h"

struct jpeg_reader {
    /// The first member: see jpeg_low_frequency_install.
    jpeg_low_frequency_memory low_frequency;
    struct jpeg_decompress_struct info;
    struct jpeg_error_mgr errors;
    struct jpeg_source_mgr source;
    jmp_buf escape;
    char message[JMSG_LENGTH_MAX];
    const uint8_t *bytes;
    size_t length;
    /// The bytes that a marker skips beyond the available ones.
    size_t pending_skip;
    int complete, at_end, starved, buffered;
    /// Whether the header of the first scan was read last.
    int at_scan;
    jpeg_quarter *quarter;
};

// Errors

static void fail(j_common_ptr info) {
    jpeg_reader *reader = info->client_data;
    info->err->format_message(info, reader->message);
    longjmp(reader->escape, 1);
}

static void note(j_common_ptr info, int level) {
    jpeg_reader *reader = info->client_data;
    if (level >= 0) return;
    info->err->num_warnings++;
    // The data ended inside a scan.
    if (info->err->msg_code == JWRN_HIT_MARKER && (reader->at_end || reader->info.unread_marker == JPEG_EOI))
        reader->starved = 1;
}

static void print_nothing(j_common_ptr info) { (void)info; }

static int wrong_order(jpeg_reader *reader) {
    snprintf(reader->message, sizeof reader->message, "called in the wrong order");
    return JPEG_READER_FAILED;
}

// The source: all bytes so far, in one piece

static void source_nothing(j_decompress_ptr info) { (void)info; }

static boolean source_fill(j_decompress_ptr info) {
    static const JOCTET end[2] = {0xFF, JPEG_EOI};
    jpeg_reader *reader = info->client_data;
    if (!reader->complete) return FALSE;
    reader->at_end = 1;
    info->src->next_input_byte = end;
    info->src->bytes_in_buffer = sizeof end;
    return TRUE;
}

static void source_skip(j_decompress_ptr info, long count) {
    jpeg_reader *reader = info->client_data;
    struct jpeg_source_mgr *source = info->src;
    if (count <= 0) return;
    size_t inside = (size_t)count < source->bytes_in_buffer ? (size_t)count : source->bytes_in_buffer;
    source->next_input_byte += inside;
    source->bytes_in_buffer -= inside;
    if (!reader->complete) reader->pending_skip += (size_t)count - inside;
}

void jpeg_reader_set_data(jpeg_reader *reader, const uint8_t *bytes, size_t length, int complete) {
    if (reader->at_end) return;
    size_t used = reader->bytes ? reader->length - reader->source.bytes_in_buffer : 0;
    size_t rest = length > used ? length - used : 0;
    size_t skipped = reader->pending_skip < rest ? reader->pending_skip : rest;
    reader->pending_skip -= skipped;
    reader->bytes = bytes;
    reader->length = length;
    reader->complete = complete;
    reader->source.next_input_byte = bytes + (length - rest) + skipped;
    reader->source.bytes_in_buffer = rest - skipped;
}

// Life

jpeg_reader *jpeg_reader_open(void) {
    jpeg_reader *reader = calloc(1, sizeof *reader);
    if (!reader) return NULL;
    reader->info.err = jpeg_std_error(&reader->errors);
    reader->info.client_data = reader;
    reader->errors.error_exit = fail;
    reader->errors.emit_message = note;
    reader->errors.output_message = print_nothing;
    if (setjmp(reader->escape)) {
        jpeg_reader_close(reader);
        return NULL;
    }
    jpeg_create_decompress(&reader->info);
    reader->source.init_source = source_nothing;
    reader->source.fill_input_buffer = source_fill;
    reader->source.skip_input_data = source_skip;
    reader->source.resync_to_restart = jpeg_resync_to_restart;
    reader->source.term_source = source_nothing;
    reader->info.src = &reader->source;
    return reader;
}

void jpeg_reader_close(jpeg_reader *reader) {
    if (!reader) return;
    // Destroying frees memory and reports nothing.
    jpeg_destroy_decompress(&reader->info);
    jpeg_quarter_close(reader->quarter);
    free(reader);
}

const char *jpeg_reader_message(const jpeg_reader *reader) { return reader->message; }

/// Whether the scans so far contain all bits of all coefficients, so that no further scan is needed.
static int has_all_scans(const struct jpeg_decompress_struct *info) {
    for (int i = 0; i < info->num_components; i++) {
        // The first scan of a component sets its table.
        if (!info->comp_info[i].quant_table) return 0;
        if (!info->progressive_mode) continue;
        // The bits that are still missing; -1 for a coefficient without a scan.
        for (int k = 0; k < DCTSIZE2; k++)
            if (!info->coef_bits || info->coef_bits[i][k] != 0) return 0;
    }
    return 1;
}

int jpeg_reader_is_truncated(const jpeg_reader *reader) {
    if (reader->starved) return 1;
    if (!reader->at_end) return 0;
    // Arithmetic decoding reads missing data as zeros without a warning.
    return reader->info.arith_code || (reader->buffered && !has_all_scans(&reader->info));
}

// Header

static uint64_t coefficient_bytes(j_decompress_ptr info) {
    uint64_t sum = 0;
    if (info->max_h_samp_factor <= 0 || info->max_v_samp_factor <= 0) return 0;
    for (int i = 0; i < info->num_components; i++) {
        jpeg_component_info *component = &info->comp_info[i];
        uint64_t width = ((uint64_t)info->image_width * component->h_samp_factor) / info->max_h_samp_factor + 2 * DCTSIZE;
        uint64_t height = ((uint64_t)info->image_height * component->v_samp_factor) / info->max_v_samp_factor + 2 * DCTSIZE;
        sum += width * height * sizeof(JCOEF);
    }
    return sum;
}

int jpeg_reader_read_header(jpeg_reader *reader, jpeg_reader_header *header) {
    j_decompress_ptr info = &reader->info;
    if (setjmp(reader->escape)) return JPEG_READER_FAILED;
    if (jpeg_read_header(info, TRUE) != JPEG_HEADER_OK) return JPEG_READER_NEEDS_DATA;
    reader->at_scan = 1;
    header->width = info->image_width;
    header->height = info->image_height;
    header->components = info->num_components;
    header->multiscan = jpeg_has_multiple_scans(info);
    header->progressive = info->progressive_mode;
    header->coefficient_bytes = header->multiscan ? coefficient_bytes(info) : 0;
    return JPEG_READER_DONE;
}

// Decoding

int jpeg_reader_start(jpeg_reader *reader, int eighths, int layout, int buffered, int low_frequency, uint32_t *width,
                      uint32_t *height) {
    j_decompress_ptr info = &reader->info;
    reader->at_scan = 0;
    if (setjmp(reader->escape)) return JPEG_READER_FAILED;
    if (low_frequency && !reader->low_frequency.request) {
        jpeg_low_frequency_install(info);
        // Smoothing would guess the coefficients that were left out.
        info->do_block_smoothing = FALSE;
    }
    info->scale_num = (unsigned)eighths;
    info->scale_denom = 8;
    info->out_color_space = layout == JPEG_ROWS_CMYK ? JCS_CMYK : JCS_EXT_BGRA;
    info->dct_method = JDCT_ISLOW;
    // Smoothed chroma is more accurate at full size. At a smaller size it is blurred, because the smoothing reaches as far
    // as it would at the larger size.
    info->do_fancy_upsampling = eighths == 8;
    info->buffered_image = buffered ? TRUE : FALSE;
    reader->buffered = buffered;
    if (!jpeg_start_decompress(info)) return JPEG_READER_NEEDS_DATA;
    *width = info->output_width;
    *height = info->output_height;
    return JPEG_READER_DONE;
}

int jpeg_reader_start_quarter(jpeg_reader *reader, uint32_t *width, uint32_t *height) {
    j_decompress_ptr info = &reader->info;
    const struct jpeg_source_mgr *source = info->src;
    if (!reader->at_scan || reader->quarter || !reader->complete || reader->at_end) return wrong_order(reader);
    const uint8_t *bytes = source->next_input_byte;
    reader->quarter = jpeg_quarter_open(info, bytes, bytes + source->bytes_in_buffer);
    if (!reader->quarter) return JPEG_READER_FAILED;
    *width = (info->image_width + 3) / 4;
    *height = (info->image_height + 3) / 4;
    return JPEG_READER_DONE;
}

int jpeg_reader_quarter_rows(jpeg_reader *reader, uint8_t *rows, size_t stride, int capacity, int *count) {
    *count = 0;
    if (!reader->quarter) return wrong_order(reader);
    *count = jpeg_quarter_rows(reader->quarter, rows, stride, capacity);
    return *count == 0 ? JPEG_READER_FAILED : JPEG_READER_DONE;
}

int jpeg_reader_absorb(jpeg_reader *reader) {
    if (setjmp(reader->escape)) return JPEG_READER_FAILED;
    if (!reader->buffered) return wrong_order(reader);
    switch (jpeg_consume_input(&reader->info)) {
    case JPEG_SUSPENDED: return JPEG_READER_NEEDS_DATA;
    case JPEG_REACHED_EOI: return JPEG_READER_DONE;
    case JPEG_SCAN_COMPLETED: return JPEG_READER_SCAN_END;
    default: return JPEG_READER_MORE;
    }
}

int jpeg_reader_scan(const jpeg_reader *reader) { return reader->info.input_scan_number; }

int jpeg_reader_start_picture(jpeg_reader *reader, int scan) {
    if (setjmp(reader->escape)) return JPEG_READER_FAILED;
    if (!reader->buffered) return wrong_order(reader);
    return jpeg_start_output(&reader->info, scan) ? JPEG_READER_DONE : JPEG_READER_NEEDS_DATA;
}

int jpeg_reader_finish_picture(jpeg_reader *reader) {
    if (setjmp(reader->escape)) return JPEG_READER_FAILED;
    if (!reader->buffered) return wrong_order(reader);
    return jpeg_finish_output(&reader->info) ? JPEG_READER_DONE : JPEG_READER_NEEDS_DATA;
}

enum { ROWS_AT_ONCE = 16 };

int jpeg_reader_rows(jpeg_reader *reader, uint8_t *rows, size_t stride, int capacity, int *count) {
    j_decompress_ptr info = &reader->info;
    JSAMPROW pointers[ROWS_AT_ONCE];
    int done = 0;
    *count = 0;
    if (setjmp(reader->escape)) return JPEG_READER_FAILED;
    while (done < capacity && info->output_scanline < info->output_height) {
        int wanted = capacity - done < ROWS_AT_ONCE ? capacity - done : ROWS_AT_ONCE;
        for (int i = 0; i < wanted; i++) pointers[i] = rows + (size_t)(done + i) * stride;
        int got = (int)jpeg_read_scanlines(info, pointers, (JDIMENSION)wanted);
        if (got == 0) break;
        done += got;
    }
    *count = done;
    return done == 0 ? JPEG_READER_NEEDS_DATA : JPEG_READER_DONE;
}

#endif
