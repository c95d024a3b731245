#ifndef CCODECS_JPEG_H
#define CCODECS_JPEG_H

#include <stddef.h>
#include <stdint.h>

// Reading. You may call the functions in any order: a call out of order fails, and never crashes.

typedef struct jpeg_reader jpeg_reader;

/// The result of a reading step.
enum {
    /// See jpeg_reader_message.
    JPEG_READER_FAILED = -1,
    /// The step needs more bytes. Give them with jpeg_reader_set_data, and call the step again.
    JPEG_READER_NEEDS_DATA = 0,
    JPEG_READER_DONE = 1,
    /// From jpeg_reader_absorb: there is more to absorb.
    JPEG_READER_MORE = 2,
    /// From jpeg_reader_absorb: a scan is complete, and another may follow.
    JPEG_READER_SCAN_END = 3,
};

/// The layout of rows, with four bytes per pixel.
enum {
    JPEG_ROWS_BGRA = 0,
    /// As stored, for files with four components: inverted CMYK.
    JPEG_ROWS_CMYK = 1,
};

typedef struct {
    uint32_t width, height;
    int components;
    /// Whether the file has several scans, because it is progressive or not interleaved.
    int multiscan;
    /// Whether it is progressive.
    int progressive;
    /// The bytes that all coefficients take while the file is read, if it has several scans; otherwise 0.
    uint64_t coefficient_bytes;
} jpeg_reader_header;

/// Returns NULL if memory runs out.
jpeg_reader *jpeg_reader_open(void);
void jpeg_reader_close(jpeg_reader *reader);

/// Gives all bytes received so far. They must stay in place until the next call of this function, or as long as the reader
/// is used. `complete` says that no more bytes will come.
void jpeg_reader_set_data(jpeg_reader *reader, const uint8_t *bytes, size_t length, int complete);

/// Reads up to the first scan.
int jpeg_reader_read_header(jpeg_reader *reader, jpeg_reader_header *header);

/// Starts decoding at `eighths`/8 of the size (2, 4, 8), and returns the size of the result. If you set `buffered`, call
/// jpeg_reader_absorb next, until the file or the part that you want to show has been read. If you also set `low_frequency`,
/// with two eighths, libjpeg keeps only the coefficients that suffice for a picture which is scaled down much further.
int jpeg_reader_start(jpeg_reader *reader, int eighths, int layout, int buffered, int low_frequency, uint32_t *width,
                      uint32_t *height);

/// Starts decoding at a quarter of the size, faster and more smoothly than jpeg_reader_start with two eighths: for pictures
/// that are scaled down much further. It requires the complete data of a file of a common kind (see jpeg_quarter.h) without
/// errors. If this or a row fails, you can still call jpeg_reader_start.
int jpeg_reader_start_quarter(jpeg_reader *reader, uint32_t *width, uint32_t *height);
/// Decodes up to `capacity` rows of BGRA, `stride` bytes apart. `count` is their number.
int jpeg_reader_quarter_rows(jpeg_reader *reader, uint8_t *rows, size_t stride, int capacity, int *count);

/// Absorbs at most one row of blocks of a file that was started as `buffered`.
int jpeg_reader_absorb(jpeg_reader *reader);
/// The number of the scan that is being absorbed, from 1.
int jpeg_reader_scan(const jpeg_reader *reader);

/// Starts and ends a picture of the scans absorbed up to `scan`. Read all of its rows before you end it.
int jpeg_reader_start_picture(jpeg_reader *reader, int scan);
int jpeg_reader_finish_picture(jpeg_reader *reader);

/// Decodes up to `capacity` rows, `stride` bytes apart. `count` is their number.
int jpeg_reader_rows(jpeg_reader *reader, uint8_t *rows, size_t stride, int capacity, int *count);

/// Whether data were missing at the end, which libjpeg has replaced with grey.
int jpeg_reader_is_truncated(const jpeg_reader *reader);
/// Why the last function failed.
const char *jpeg_reader_message(const jpeg_reader *reader);

// Writing.

typedef struct jpeg_writer jpeg_writer;

/// Returns NULL if memory runs out or libjpeg refuses the size. `quality` is 1 to 100; rows are BGRX.
jpeg_writer *jpeg_writer_open(uint32_t width, uint32_t height, int quality);
int jpeg_writer_row(jpeg_writer *writer, const uint8_t *row);
/// Ends the file and returns its bytes, which belong to the writer.
int jpeg_writer_finish(jpeg_writer *writer, const uint8_t **bytes, size_t *length);
void jpeg_writer_close(jpeg_writer *writer);

#endif
