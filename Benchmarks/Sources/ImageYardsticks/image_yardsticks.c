#include "image_yardsticks.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <jpeglib.h>

typedef struct {
  struct jpeg_error_mgr manager;
  jmp_buf escape;
} errors;

static int64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void leave(j_common_ptr info) { longjmp(((errors *)info->err)->escape, 1); }

// One picture, or its header alone if `rows` is NULL.
static int decode(const uint8_t *bytes, size_t length, JSAMPROW *rows, JDIMENSION *height) {
  struct jpeg_decompress_struct info;
  errors errors;
  info.err = jpeg_std_error(&errors.manager);
  errors.manager.error_exit = leave;
  jpeg_create_decompress(&info);
  if (setjmp(errors.escape)) {
    jpeg_destroy_decompress(&info);
    return 0;
  }
  jpeg_mem_src(&info, bytes, length);
  jpeg_read_header(&info, TRUE);
  *height = info.image_height;
  if (rows) {
    info.out_color_space = JCS_EXT_BGRA;
    jpeg_start_decompress(&info);
    *rows = info.mem->alloc_small((j_common_ptr)&info, JPOOL_IMAGE, (size_t)info.output_width * 4);
    while (info.output_scanline < info.output_height) jpeg_read_scanlines(&info, rows, 1);
  }
  jpeg_destroy_decompress(&info);
  return 1;
}

int64_t yardstick_jpeg_headers(const uint8_t *bytes, size_t length, int count) {
  JDIMENSION height;
  int64_t start = now();
  for (int i = 0; i < count; i++) {
    if (!decode(bytes, length, NULL, &height)) return -1;
  }
  return now() - start;
}

int64_t yardstick_jpeg_rows(const uint8_t *bytes, size_t length, int rows) {
  JDIMENSION height;
  JSAMPROW row;
  int64_t start = now();
  if (!decode(bytes, length, &row, &height) || height == 0) return -1;
  return (now() - start) * rows / height;
}
