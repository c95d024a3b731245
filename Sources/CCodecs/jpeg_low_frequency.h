#ifndef CCODECS_JPEG_LOW_FREQUENCY_H
#define CCODECS_JPEG_LOW_FREQUENCY_H

#include <stddef.h>
#include <stdio.h>
#include <jpeglib.h>

/// The coefficients of one component. Only four of a block's 64 are kept: the mean, and the slopes across, down and in both
/// directions. libjpeg sees a few rows of whole blocks at a time.
typedef struct {
    JCOEF *kept;
    /// The rows that libjpeg holds now.
    JBLOCKARRAY rows;
    JDIMENSION first, count, capacity;
    JDIMENSION width, height;
    boolean changed;
} jpeg_low_frequency;

/// Stands in for the functions of libjpeg's memory manager that hold all coefficients of a picture.
typedef struct {
    jpeg_low_frequency *components[MAX_COMPONENTS];
    /// The number of components for which libjpeg has requested memory so far. It does so in their order.
    int asked;
    jvirt_barray_ptr (*request)(j_common_ptr, int, boolean, JDIMENSION, JDIMENSION, JDIMENSION);
    JBLOCKARRAY (*access)(j_common_ptr, jvirt_barray_ptr, JDIMENSION, JDIMENSION, boolean);
} jpeg_low_frequency_memory;

/// Makes libjpeg keep only these coefficients of the components that it decodes to a quarter of the size. Call it before
/// decompression starts. `info->client_data` must point to a zeroed `jpeg_low_frequency_memory`, or to a struct that begins
/// with one.
void jpeg_low_frequency_install(j_decompress_ptr info);

#endif
