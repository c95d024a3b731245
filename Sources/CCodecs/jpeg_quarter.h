#ifndef CCODECS_JPEG_QUARTER_H
#define CCODECS_JPEG_QUARTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <jpeglib.h>

// Pictures at a quarter of their size, out of the common kind of JPEG: baseline, Huffman coded, in one scan, grey or
// YCbCr.
//
// A quarter needs three to five coefficients of each block, and libjpeg decodes all 64: that is most of its time. Here
// the others are passed over, several at a time. The headers are libjpeg's; and whatever is not quite in order is left to
// libjpeg, which knows how to make something of it.

typedef struct jpeg_quarter jpeg_quarter;

/// After jpeg_read_header; NULL if the file is not of that kind. `bytes` begin behind the header of the scan, go on to
/// `end`, and must stay in place.
jpeg_quarter *jpeg_quarter_open(j_decompress_ptr info, const uint8_t *bytes, const uint8_t *end);
void jpeg_quarter_close(jpeg_quarter *quarter);

/// The next rows, BGRA, `capacity` of them at most, `stride` bytes apart; how many, which is 0 if the file is not in
/// order.
int jpeg_quarter_rows(jpeg_quarter *quarter, uint8_t *rows, size_t stride, int capacity);

#endif
