#ifdef __linux__

#include "png_rows.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <png.h>

struct png_writer {
    png_structp png;
    png_infop info;
    jmp_buf escape;
    uint8_t *bytes;
    size_t length, capacity;
};

static void fail(png_structp png, png_const_charp message) {
    (void)message;
    png_writer *writer = png_get_error_ptr(png);
    longjmp(writer->escape, 1);
}

static void ignore(png_structp png, png_const_charp message) { (void)png, (void)message; }

static void take(png_structp png, png_bytep from, size_t count) {
    png_writer *writer = png_get_io_ptr(png);
    if (count > writer->capacity - writer->length) {
        size_t wanted = writer->capacity * 2 > writer->length + count ? writer->capacity * 2 : writer->length + count;
        uint8_t *grown = realloc(writer->bytes, wanted);
        if (!grown) png_error(png, "no memory");
        writer->bytes = grown;
        writer->capacity = wanted;
    }
    memcpy(writer->bytes + writer->length, from, count);
    writer->length += count;
}

static void flush_nothing(png_structp png) { (void)png; }

png_writer *png_writer_open(uint32_t width, uint32_t height, int opaque) {
    png_writer *writer = calloc(1, sizeof *writer);
    if (!writer) return NULL;
    if (setjmp(writer->escape)) {
        png_writer_close(writer);
        return NULL;
    }
    writer->png = png_create_write_struct(PNG_LIBPNG_VER_STRING, writer, fail, ignore);
    if (writer->png) writer->info = png_create_info_struct(writer->png);
    if (!writer->info) longjmp(writer->escape, 1);
    png_set_user_limits(writer->png, 0x7FFFFFFF, 0x7FFFFFFF);
    png_set_write_fn(writer->png, writer, take, flush_nothing);
    png_set_IHDR(writer->png, writer->info, width, height, 8, opaque ? PNG_COLOR_TYPE_RGB : PNG_COLOR_TYPE_RGB_ALPHA,
                 PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_set_sRGB(writer->png, writer->info, PNG_sRGB_INTENT_PERCEPTUAL);
    png_write_info(writer->png, writer->info);
    png_set_bgr(writer->png);
    return writer;
}

int png_writer_row(png_writer *writer, const uint8_t *row) {
    if (setjmp(writer->escape)) return 0;
    png_write_row(writer->png, (png_bytep)row);
    return 1;
}

int png_writer_finish(png_writer *writer, const uint8_t **bytes, size_t *length) {
    if (setjmp(writer->escape)) return 0;
    png_write_end(writer->png, NULL);
    *bytes = writer->bytes;
    *length = writer->length;
    return 1;
}

void png_writer_close(png_writer *writer) {
    if (!writer) return;
    png_destroy_write_struct(&writer->png, &writer->info);
    free(writer->bytes);
    free(writer);
}

#endif
