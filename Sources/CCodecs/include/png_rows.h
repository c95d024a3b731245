#ifndef CCODECS_PNG_ROWS_H
#define CCODECS_PNG_ROWS_H

#include <stddef.h>
#include <stdint.h>

// Reading

typedef struct png_reader png_reader;

typedef struct {
    uint32_t width, height;
    int interlaced;
    /// Whether there is an alpha channel, or a transparent colour.
    int transparent;
    /// Whether the picture is stored in grey.
    int grey;
    /// The ICC profile, which belongs to the reader; NULL if there is none.
    const uint8_t *profile;
    size_t profile_length;
} png_reader_header;

/// Returns NULL if memory runs out. `bytes` must stay in place until the reader is closed. `limit` is the largest size of a
/// decompressed chunk, in bytes.
png_reader *png_reader_open(const uint8_t *bytes, size_t length, size_t limit);

/// Ignores checksums, for files that were assembled in memory.
void png_reader_ignore_checksums(png_reader *reader);

/// Reads up to the pixels. Returns 0 on failure.
int png_reader_start(png_reader *reader, png_reader_header *header);

/// Decodes `count` rows, `stride` bytes apart, as BGRA of 8 bits with straight alpha. Returns 0 on failure. An interlaced
/// picture is decoded in one call with all its rows. `proceed` is called before each row of each pass and at least once for
/// 8 KB of the file, and stops the decode by returning 0. Data after the last row are ignored.
int png_reader_rows(png_reader *reader, uint8_t *rows, size_t stride, uint32_t count,
                    int (*proceed)(void *), void *context);

/// Why the last function failed.
const char *png_reader_message(const png_reader *reader);
void png_reader_close(png_reader *reader);

// Writing

typedef struct png_writer png_writer;

/// Returns NULL if memory runs out or libpng refuses the size. Rows are BGRA with straight alpha, or BGR if `opaque`.
png_writer *png_writer_open(uint32_t width, uint32_t height, int opaque);
int png_writer_row(png_writer *writer, const uint8_t *row);
/// Ends the file and returns its bytes, which belong to the writer.
int png_writer_finish(png_writer *writer, const uint8_t **bytes, size_t *length);
void png_writer_close(png_writer *writer);

#endif
