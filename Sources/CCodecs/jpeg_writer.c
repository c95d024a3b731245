#ifdef __linux__

#include "jpeg.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <jpeglib.h>

struct jpeg_writer {
    struct jpeg_compress_struct info;
    struct jpeg_error_mgr errors;
    jmp_buf escape;
    unsigned char *bytes;
    unsigned long length;
};

static void fail(j_common_ptr info) {
    jpeg_writer *writer = info->client_data;
    longjmp(writer->escape, 1);
}

static void print_nothing(j_common_ptr info) { (void)info; }

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
    jpeg_mem_dest(&writer->info, &writer->bytes, &writer->length);
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
