#ifndef CCODECS_JPEG_H
#define CCODECS_JPEG_H

#include <stddef.h>
#include <stdint.h>

// Reading. All functions may be called in any order: what is asked out of turn is an error, and no crash.

typedef struct jpeg_reader jpeg_reader;

/// What a step of reading came to.
enum {
    /// See jpeg_reader_message.
    JPEG_READER_FAILED = -1,
    /// It needs more bytes than jpeg_reader_set_data has given so far. Call again when there are more.
    JPEG_READER_NEEDS_DATA = 0,
    JPEG_READER_DONE = 1,
    /// Of jpeg_reader_absorb: there is more to absorb.
    JPEG_READER_MORE = 2,
    /// Of jpeg_reader_absorb: a scan has been absorbed whole, and there may be another.
    JPEG_READER_SCAN_END = 3,
};

/// The layout of rows, four bytes a pixel.
enum {
    JPEG_ROWS_BGRA = 0,
    /// As they are stored, for files of four components: inverted.
    JPEG_ROWS_CMYK = 1,
};

typedef struct {
    uint32_t width, height;
    int components;
    /// Whether it comes in several scans: progressive, or not interleaved.
    int multiscan;
    /// Whether it is progressive.
    int progressive;
    /// Bytes that its coefficients need while it is read, if it comes in several scans.
    uint64_t coefficient_bytes;
} jpeg_reader_header;

/// NULL if there is no memory.
jpeg_reader *jpeg_reader_open(void);
void jpeg_reader_close(jpeg_reader *reader);

/// Gives all bytes that there are so far; they must stay in place until the next call, or the end.
/// `complete` says that no more will come.
void jpeg_reader_set_data(jpeg_reader *reader, const uint8_t *bytes, size_t length, int complete);

/// Reads up to the first scan.
int jpeg_reader_read_header(jpeg_reader *reader, jpeg_reader_header *header);

/// Begins to decode, to `eighths`/8 of the size (2, 4, 8), and gives the size of what comes out.
/// With `buffered` the whole file has to be absorbed first, or as much of it as there is to show; with `coarse` as well,
/// and two eighths, no more is kept of it than such a picture needs that is made a good deal smaller still.
int jpeg_reader_start(jpeg_reader *reader, int eighths, int layout, int buffered, int coarse, uint32_t *width,
                      uint32_t *height);

/// Begins to decode to a quarter of the size, in a way that is faster than jpeg_reader_start with two eighths, and
/// smoother: for pictures that are made a good deal smaller still. Only when all data have been given, and of common files
/// that are quite in order: where this fails, or rows do, jpeg_reader_start can still be called.
int jpeg_reader_start_quarter(jpeg_reader *reader, uint32_t *width, uint32_t *height);
/// Decodes up to `capacity` rows of BGRA, `stride` bytes apart; `count` says how many.
int jpeg_reader_quarter_rows(jpeg_reader *reader, uint8_t *rows, size_t stride, int capacity, int *count);

/// Takes in a row of blocks, at most, of a file that was started as `buffered`.
int jpeg_reader_absorb(jpeg_reader *reader);
/// The number of the scan that is being absorbed, from 1.
int jpeg_reader_scan(const jpeg_reader *reader);

/// Begins a picture out of the scans that have been absorbed up to this one, and ends it. It must be read to its last
/// row, unless the reader is closed.
int jpeg_reader_start_picture(jpeg_reader *reader, int scan);
int jpeg_reader_finish_picture(jpeg_reader *reader);

/// Decodes up to `capacity` rows, `stride` bytes apart; `count` says how many.
int jpeg_reader_rows(jpeg_reader *reader, uint8_t *rows, size_t stride, int capacity, int *count);

/// Whether something of the picture was missing at the end of the data, and grey stands in its place.
int jpeg_reader_is_truncated(const jpeg_reader *reader);
/// Why the last function failed.
const char *jpeg_reader_message(const jpeg_reader *reader);

// Writing.

typedef struct jpeg_writer jpeg_writer;

/// NULL if there is no memory. `quality` is 1 to 100; rows come as BGRX.
jpeg_writer *jpeg_writer_open(uint32_t width, uint32_t height, int quality);
int jpeg_writer_row(jpeg_writer *writer, const uint8_t *row);
/// Ends the file and shows it; it belongs to the writer.
int jpeg_writer_finish(jpeg_writer *writer, const uint8_t **bytes, size_t *length);
void jpeg_writer_close(jpeg_writer *writer);

#endif
