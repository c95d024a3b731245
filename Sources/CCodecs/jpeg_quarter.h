#ifndef CCODECS_JPEG_QUARTER_H
#define CCODECS_JPEG_QUARTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <jpeglib.h>

// Decodes common JPEGs to a quarter of their size: baseline, Huffman coded, one scan, grey or YCbCr.
//
// A quarter needs three to five coefficients of each block. libjpeg decodes all 64, which takes most of its time. This
// decoder skips the others, several at a time. libjpeg parses the headers, and decodes the files that this decoder refuses.

typedef struct jpeg_quarter jpeg_quarter;

/// Call it after jpeg_read_header. Returns NULL if the file is not of that kind. `bytes` begin behind the header of the
/// scan, extend to `end`, and must stay in place.
jpeg_quarter *jpeg_quarter_open(j_decompress_ptr info, const uint8_t *bytes, const uint8_t *end);
void jpeg_quarter_close(jpeg_quarter *quarter);

/// Decodes the next rows of BGRA, at most `capacity`, `stride` bytes apart. Returns their number, which is 0 if the file is
/// corrupt.
int jpeg_quarter_rows(jpeg_quarter *quarter, uint8_t *rows, size_t stride, int capacity);

#endif
