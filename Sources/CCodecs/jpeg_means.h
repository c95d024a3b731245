#ifndef CCODECS_JPEG_MEANS_H
#define CCODECS_JPEG_MEANS_H

#include <stddef.h>
#include <stdio.h>
#include <jpeglib.h>

/// Coefficients of a component of which only the means of blocks are wanted: a sixty-fourth of the memory. libjpeg sees
/// some rows of whole blocks at a time.
typedef struct {
    JCOEF *means;
    /// The rows that libjpeg has now.
    JBLOCKARRAY rows;
    JDIMENSION first, count, capacity;
    JDIMENSION width, height;
    boolean changed;
} jpeg_means;

/// In place of the functions of libjpeg's memory manager that hold all coefficients of a picture.
typedef struct {
    jpeg_means *components[MAX_COMPONENTS];
    /// How many components have asked for memory so far; they do in their order.
    int asked;
    jvirt_barray_ptr (*request)(j_common_ptr, int, boolean, JDIMENSION, JDIMENSION, JDIMENSION);
    JBLOCKARRAY (*access)(j_common_ptr, jvirt_barray_ptr, JDIMENSION, JDIMENSION, boolean);
} jpeg_means_memory;

/// Makes libjpeg keep only means of what it decodes to an eighth of the size. It is called before decompression starts;
/// `memory` is found again by `jpeg_means_memory_of`.
void jpeg_means_install(j_decompress_ptr info, jpeg_means_memory *memory);

/// Given by who installs it.
jpeg_means_memory *jpeg_means_memory_of(j_common_ptr info);

#endif
