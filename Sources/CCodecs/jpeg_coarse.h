#ifndef CCODECS_JPEG_COARSE_H
#define CCODECS_JPEG_COARSE_H

#include <stddef.h>
#include <stdio.h>
#include <jpeglib.h>

/// Coefficients of a component of which only four of each block are wanted, the mean and the slopes: a sixteenth of the
/// memory. libjpeg sees some rows of whole blocks at a time.
typedef struct {
    JCOEF *kept;
    /// The rows that libjpeg has now.
    JBLOCKARRAY rows;
    JDIMENSION first, count, capacity;
    JDIMENSION width, height;
    boolean changed;
} jpeg_coarse;

/// In place of the functions of libjpeg's memory manager that hold all coefficients of a picture.
typedef struct {
    jpeg_coarse *components[MAX_COMPONENTS];
    /// How many components have asked for memory so far; they do in their order.
    int asked;
    jvirt_barray_ptr (*request)(j_common_ptr, int, boolean, JDIMENSION, JDIMENSION, JDIMENSION);
    JBLOCKARRAY (*access)(j_common_ptr, jvirt_barray_ptr, JDIMENSION, JDIMENSION, boolean);
} jpeg_coarse_memory;

/// Makes libjpeg keep only these of what it decodes to a quarter of the size. It is called before decompression starts;
/// `memory` is found again by `jpeg_coarse_memory_of`.
void jpeg_coarse_install(j_decompress_ptr info, jpeg_coarse_memory *memory);

/// Given by who installs it.
jpeg_coarse_memory *jpeg_coarse_memory_of(j_common_ptr info);

#endif
