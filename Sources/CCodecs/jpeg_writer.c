#ifdef __linux__

#include "jpeg.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <jpeglib.h>
#include <jerror.h>

struct jpeg_writer {
    struct jpeg_compress_struct info;
    struct jpeg_error_mgr errors;
    struct jpeg_destination_mgr destination;
    jmp_buf escape;
    uint8_t *bytes;
    size_t length, capacity;
};

static void fail(j_common_ptr info) {
    jpeg_writer *writer = info->client_data;
    longjmp(writer->escape, 1);
}

static void print_nothing(j_common_ptr info) { (void)info; }

// The destination: growing memory, which always belongs to the writer

static boolean grow(j_compress_ptr info) {
    jpeg_writer *writer = info->client_data;
    // libjpeg calls this when the buffer is full.
    size_t capacity = writer->capacity ? writer->capacity * 2 : 1 << 14;
    uint8_t *grown = realloc(writer->bytes, capacity);
    if (!grown) ERREXIT(info, JERR_OUT_OF_MEMORY);
    writer->bytes = grown;
    info->dest->next_output_byte = grown + writer->capacity;
    info->dest->free_in_buffer = capacity - writer->capacity;
    writer->capacity = capacity;
    return TRUE;
}

static void start(j_compress_ptr info) { grow(info); }

static void end(j_compress_ptr info) {
    jpeg_writer *writer = info->client_data;
    writer->length = writer->capacity - info->dest->free_in_buffer;
}

jpeg_writer *jpeg_writer_open(uint32_t width, uint32_t height, int quality) {
    jpeg_writer *writer = calloc(1, sizeof *writer);
    if (!writer) return NULL;
    writer->info.err = jpeg_std_error(&writer->errors);
    writer->info.client_data = writer;
    writer->errors.error_exit = fail;
    writer->errors.output_message = print_nothing;
    if (setjmp(writer->escape)) {
        jpeg_writer_close(writer);
        return NULL;
    }
    jpeg_create_compress(&writer->info);
    writer->destination.init_destination = start;
    writer->destination.empty_output_buffer = grow;
    writer->destination.term_destination = end;
    writer->info.dest = &writer->destination;
    writer->info.image_width = width;
    writer->info.image_height = height;
    writer->info.input_components = 4;
    writer->info.in_color_space = JCS_EXT_BGRX;
    jpeg_set_defaults(&writer->info);
    jpeg_set_quality(&writer->info, quality, TRUE);
    jpeg_start_compress(&writer->info, TRUE);
    return writer;
}

int jpeg_writer_row(jpeg_writer *writer, const uint8_t *row) {
    JSAMPROW pointer = (JSAMPROW)row;
    if (setjmp(writer->escape)) return 0;
    return jpeg_write_scanlines(&writer->info, &pointer, 1) == 1;
}

int jpeg_writer_finish(jpeg_writer *writer, const uint8_t **bytes, size_t *length) {
    if (setjmp(writer->escape)) return 0;
    jpeg_finish_compress(&writer->info);
    *bytes = writer->bytes;
    *length = writer->length;
    return 1;
}

void jpeg_writer_close(jpeg_writer *writer) {
    if (!writer) return;
    jpeg_destroy_compress(&writer->info);
    free(writer->bytes);
    free(writer);
}

#endif
