#ifdef __linux__

#include "png_rows.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <png.h>

enum {
    IDAT = 0x49444154,
    /// How many bytes of compressed data are read after the last row. Files end their data there with at most a few bytes, but
    /// libpng would decompress all that follow.
    MOST_SURPLUS = 4096,
};

struct png_reader {
    png_structp png;
    png_infop info;
    jmp_buf escape;
    char message[128];
    const uint8_t *bytes;
    size_t length, offset;
    /// The bytes of compressed data that were read after the last row.
    size_t surplus;
    uint32_t width, height;
    int passes;
    int (*proceed)(void *);
    void *context;
};

static void fail(png_structp png, png_const_charp message) {
    png_reader *reader = png_get_error_ptr(png);
    snprintf(reader->message, sizeof reader->message, "%s", message);
    longjmp(reader->escape, 1);
}

static void check(png_reader *reader) {
    if (reader->proceed && !reader->proceed(reader->context)) png_error(reader->png, "cancelled");
}

static void ignore(png_structp png, png_const_charp message) { (void)png, (void)message; }

static int has_all_rows(const png_reader *reader) {
    if (reader->passes > 1) return png_get_current_pass_number(reader->png) >= PNG_INTERLACE_ADAM7_PASSES;
    return reader->passes == 1 && png_get_current_row_number(reader->png) >= reader->height;
}

static int is_in_pixels(const png_reader *reader) { return png_get_io_chunk_type(reader->png) == IDAT; }

/// libpng calls this after at most 8 KB of compressed data, which may be megabytes of pixels.
static void give(png_structp png, png_bytep into, size_t count) {
    png_reader *reader = png_get_io_ptr(png);
    if (has_all_rows(reader) && is_in_pixels(reader)) reader->surplus += count;
    if (reader->surplus > MOST_SURPLUS) png_error(png, "more data than pixels");
    check(reader);
    if (count > reader->length - reader->offset) png_error(png, "the data ends too early");
    memcpy(into, reader->bytes + reader->offset, count);
    reader->offset += count;
}

/// Chunks that don't change pixels are skipped unread, whatever their size: texts, times, thumbnails.
static void pass_over_the_rest(png_structp png) {
    static const png_byte unread[] =
        "bKGD\0cHRM\0eXIf\0gAMA\0hIST\0iTXt\0oFFs\0pCAL\0pHYs\0sBIT\0sCAL\0sPLT\0sTER\0tEXt\0tIME\0zTXt";
    png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_NEVER, NULL, 0);
    png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_NEVER, unread, (int)(sizeof unread / 5));
}

png_reader *png_reader_open(const uint8_t *bytes, size_t length, size_t limit) {
    png_reader *reader = calloc(1, sizeof *reader);
    if (!reader) return NULL;
    reader->bytes = bytes;
    reader->length = length;
    if (setjmp(reader->escape)) {
        png_reader_close(reader);
        return NULL;
    }
    reader->png = png_create_read_struct(PNG_LIBPNG_VER_STRING, reader, fail, ignore);
    if (reader->png) reader->info = png_create_info_struct(reader->png);
    if (!reader->info) longjmp(reader->escape, 1);
    png_set_read_fn(reader->png, reader, give);
    png_set_user_limits(reader->png, 0x7FFFFFFF, 0x7FFFFFFF);
    png_set_chunk_malloc_max(reader->png, limit);
#ifdef PNG_IGNORE_ADLER32
    // Every chunk has a checksum. zlib's checksum of all pixels takes a sixteenth of the time, and would add nothing.
    png_set_option(reader->png, PNG_IGNORE_ADLER32, PNG_OPTION_ON);
#endif
    pass_over_the_rest(reader->png);
    return reader;
}

void png_reader_ignore_checksums(png_reader *reader) {
    if (setjmp(reader->escape)) return;
    png_set_crc_action(reader->png, PNG_CRC_QUIET_USE, PNG_CRC_QUIET_USE);
}

/// Converts every format to four bytes per pixel.
static void ask_for_bgra(png_reader *reader) {
    png_set_expand(reader->png);
    // Takes the upper byte, as Pillow does. Rounding would differ by one here and there.
    png_set_strip_16(reader->png);
    png_set_gray_to_rgb(reader->png);
    png_set_bgr(reader->png);
    png_set_filler(reader->png, 0xFF, PNG_FILLER_AFTER);
    reader->passes = png_set_interlace_handling(reader->png);
    png_read_update_info(reader->png, reader->info);
    if (png_get_rowbytes(reader->png, reader->info) != (size_t)reader->width * 4)
        png_error(reader->png, "an unexpected layout of pixels");
}

int png_reader_start(png_reader *reader, png_reader_header *header) {
    png_charp name;
    int method;
    png_uint_32 length = 0;
    if (setjmp(reader->escape)) return 0;
    png_read_info(reader->png, reader->info);
    reader->width = header->width = png_get_image_width(reader->png, reader->info);
    reader->height = header->height = png_get_image_height(reader->png, reader->info);
    header->transparent = (png_get_color_type(reader->png, reader->info) & PNG_COLOR_MASK_ALPHA) != 0
        || png_get_valid(reader->png, reader->info, PNG_INFO_tRNS) != 0;
    header->grey = (png_get_color_type(reader->png, reader->info) & PNG_COLOR_MASK_COLOR) == 0;
    header->profile = NULL;
    png_bytep profile = NULL;
    if (png_get_iCCP(reader->png, reader->info, &name, &method, &profile, &length)) header->profile = profile;
    header->profile_length = length;
    ask_for_bgra(reader);
    header->interlaced = reader->passes > 1;
    return 1;
}

/// Whether only the end of the compressed data is missing or was not read: all rows are complete, and libpng has found another
/// chunk where it looked for more data, or far more data than the rows need.
static int lacks_only_end(const png_reader *reader) {
    return has_all_rows(reader) && (!is_in_pixels(reader) || reader->surplus > MOST_SURPLUS);
}

int png_reader_rows(png_reader *reader, uint8_t *rows, size_t stride, uint32_t count,
                    int (*proceed)(void *), void *context) {
    reader->proceed = proceed;
    reader->context = context;
    if (setjmp(reader->escape)) return lacks_only_end(reader);
    if (reader->passes == 0 || (reader->passes > 1 && count != reader->height))
        png_error(reader->png, "called in the wrong order");
    for (int pass = 0; pass < reader->passes; pass++) {
        for (uint32_t row = 0; row < count; row++) {
            check(reader);
            png_read_row(reader->png, rows + row * stride, NULL);
        }
    }
    return 1;
}

const char *png_reader_message(const png_reader *reader) { return reader->message; }

void png_reader_close(png_reader *reader) {
    if (!reader) return;
    png_destroy_read_struct(&reader->png, &reader->info, NULL);
    free(reader);
}

#endif
